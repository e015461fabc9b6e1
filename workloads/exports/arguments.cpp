#include "workloads/exports/arguments.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "models/transformer/transformer.hpp"
#include "workloads/framework/expert_balancing.hpp"
#include "workloads/job/recipe_reader.hpp"
#include "workloads/job/recompute_reader.hpp"
#include "workloads/parallelism/expert_overlap.hpp"

namespace weft {
namespace {

class Arguments {
  public:
    explicit Arguments(std::vector<std::string>& list) : list_(list) {}

    template <class Value>
    void add(std::string_view flag, const Value& value) {
        list_.push_back(fmt::format("--{} {}", flag, value));
    }
    void add(std::string_view flag) { list_.push_back(fmt::format("--{}", flag)); }
    void add_if(bool given, std::string_view flag) {
        if (given) add(flag);
    }
    void add_count(std::string_view flag, std::uint32_t count) {
        if (count > 0) add(flag, count);
    }
    // A size that is 1 unless given.
    void add_size(std::string_view flag, std::uint32_t size) {
        if (size > 1) add(flag, size);
    }

  private:
    std::vector<std::string>& list_;
};

void add_attention(Arguments list, const Transformer& model) {
    list.add("num-attention-heads", model.heads);
    if (model.has_latent_attention()) {
        list.add("multi-latent-attention");
        list.add("qk-layernorm");  // of the latent vectors
        if (model.latent.q_rank > 0) list.add("q-lora-rank", model.latent.q_rank);
        list.add("kv-lora-rank", model.latent.kv_rank);
        list.add("qk-head-dim", model.latent.nope_size);
        list.add("qk-pos-emb-head-dim", model.latent.rope_size);
        list.add("v-head-dim", model.latent.value_size);
        return;
    }
    if (model.kv_heads != model.heads) {
        list.add("group-query-attention");
        list.add("num-query-groups", model.kv_heads);
    }
    if (model.head_size * model.heads != model.hidden) list.add("kv-channels", model.head_size);
    list.add_if(model.query_key_norm != QueryKeyNorm::none, "qk-layernorm");
}

// "([0]*3+[1]*58)": which layers have experts.
std::string layer_frequency(const Transformer& model) {
    const Experts& experts = model.experts;
    if (experts.first_dense == 0) return fmt::format("{}", experts.every);
    std::string list;
    for (std::uint32_t layer = 0; layer < model.layers; ++layer)
        list += fmt::format("{}{}", list.empty() ? "" : ",", layer_kind(model, layer) == LayerKind::expert ? 1 : 0);
    if (experts.every == 1)
        return fmt::format("\"([0]*{}+[1]*{})\"", experts.first_dense, model.layers - experts.first_dense);
    return fmt::format("\"[{}]\"", list);
}

void add_dispatcher(Arguments list, Dispatch dispatcher) {
    const bool fused = dispatcher == Dispatch::deepep || dispatcher == Dispatch::hybridep;
    list.add("moe-token-dispatcher-type", fused                                ? "flex"
                                          : dispatcher == Dispatch::all_gather ? "allgather"
                                                                               : "alltoall");
    if (dispatcher == Dispatch::deepep) list.add("moe-enable-deepep");
    if (dispatcher == Dispatch::hybridep) list.add("moe-flex-dispatcher-backend", "hybridep");
}

// With the coefficient that arguments.py recommends to start with.
void add_balancing_losses(Arguments list, const Job& job) {
    std::vector<std::string_view> types, coefficients;
    for (const auto& [loss, type] : {std::pair{Balancing::auxiliary_loss, "aux_loss"},
                                     std::pair{Balancing::sequence_auxiliary_loss, "seq_aux_loss"},
                                     std::pair{Balancing::global_auxiliary_loss, "global_aux_loss"}}) {
        if (!balances_by(job, loss)) continue;
        types.push_back(type);
        coefficients.push_back("0.01");
    }
    if (types.empty()) return;
    list.add("moe-router-load-balancing-type", fmt::format("{}", fmt::join(types, " ")));
    list.add("moe-aux-loss-coeff", fmt::format("{}", fmt::join(coefficients, " ")));
}

void add_experts(Arguments list, const Job& job) {
    const Experts& experts = job.model.experts;
    if (experts.count == 0) return;
    list.add("num-experts", experts.count);
    list.add("moe-router-topk", experts.top_k);
    list.add("moe-ffn-hidden-size", experts.ffn_hidden);
    if (experts.shared > 0)
        list.add("moe-shared-expert-intermediate-size", std::uint64_t{experts.shared} * experts.shared_ffn_hidden);
    if (experts.first_dense > 0 || experts.every > 1) list.add("moe-layer-freq", layer_frequency(job.model));
    list.add_if(experts.balancing_bias, "moe-router-enable-expert-bias");
    add_balancing_losses(list, job);
    add_dispatcher(list, job.experts.dispatcher);
    list.add_if(job.experts.fused_indices == Setting::on, "moe-permute-fusion");
    list.add_if(job.experts.fused_indices == Setting::on, "enable-experimental");
    if (experts.groups > 1) list.add("moe-router-num-groups", experts.groups);
    if (experts.groups > 1) list.add("moe-router-group-topk", experts.token_groups);
    list.add("moe-grouped-gemm");
    if (job.experts.capacity_factor > 0) list.add("moe-expert-capacity-factor", job.experts.capacity_factor);
    const ExpertOverlap overlap = expert_overlap(job);
    list.add_if(overlap == ExpertOverlap::passes, "overlap-moe-expert-parallel-comm");
    list.add_if(overlap == ExpertOverlap::shared_experts, "moe-shared-expert-overlap");
    list.add_if(delays_weight_gradients(job) == Setting::on, "delay-wgrad-compute");
}

void add_model(Arguments list, const Job& job, Unsayable& unsayable) {
    const Transformer& model = job.model;
    list.add("use-mcore-models");
    list.add("num-layers", model.layers);
    list.add_count("mtp-num-layers", model.mtp_layers);
    list.add("hidden-size", model.hidden);
    list.add("ffn-hidden-size", model.ffn_hidden);
    add_attention(list, model);
    list.add("seq-length", job.batch.sequence);
    list.add("max-position-embeddings", std::max(job.batch.sequence, model.positions_length));
    const bool rotary = model.positions == Positions::rotary;
    list.add("position-embedding-type", rotary                                  ? "rope"
                                        : model.positions == Positions::learned ? "learned_absolute"
                                                                                : "none");
    list.add("normalization", model.norm == Norm::rms_norm ? "RMSNorm" : "LayerNorm");
    list.add_if(model.gated, "swiglu");
    list.add_if(!model.biases.mlp, "disable-bias-linear");
    list.add_if(model.biases.qkv && !model.biases.mlp, "add-qkv-bias");
    unsayable.unless(model.biases.projection == model.biases.mlp && (model.biases.qkv || !model.biases.mlp),
                     "model.biases", "Megatron-LM has all of a layer, none, or those of queries, keys and values");
    refuse_rare_terms(model, unsayable);
    list.add_if(!model.tied_embeddings, "untie-embeddings-and-output-weights");
    list.add("make-vocab-size-divisible-by", model.vocabulary_multiple);
    add_experts(list, job);
    unsayable.unless(model.positions != Positions::alibi, "model.positions", "Megatron-LM has no ALiBi");
    unsayable.unless(!model.parallel_residual, "model.parallel_residual",
                     "Megatron-LM has no layers with attention and MLP side by side");
}

bool is_listed(const Job& job) { return job.layout.split == StageSplit::by_hand && !job.layout.by_hand.layers.empty(); }

void add_split(Arguments list, const Job& job) {
    const Layout& layout = job.layout;
    if (layout.split == StageSplit::ends) {
        list.add("account-for-embedding-in-pipeline-split");
        list.add("account-for-loss-in-pipeline-split");
    } else if (is_listed(job)) {
        list.add(
            "pipeline-model-parallel-layout",
            fmt::format("'{}'", stage_layout_text(layout.by_hand.layers, job.prediction_part(), job.model.mtp_layers)));
    } else {
        list.add_count("decoder-first-pipeline-num-layers", layout.by_hand.first);
        list.add_count("decoder-last-pipeline-num-layers", layout.by_hand.last);
    }
}

void add_schedule(Arguments list, const Job& job, Unsayable& unsayable) {
    const bool interleaved = job.schedule->key == "interleaved";
    unsayable.unless(interleaved || job.schedule->key == "1f1b" || job.layout.pipeline == 1, "schedule",
                     fmt::format("Megatron-LM runs 1f1b and interleaved, not {}", job.schedule->key));
    if (!interleaved || job.layout.pipeline == 1) return;
    if (is_listed(job)) return;  // the layout says the parts
    const std::uint32_t parts = job.model_parts();
    if (job.layout.split != StageSplit::ends && job.model.layers % parts == 0) {
        list.add("num-layers-per-virtual-pipeline-stage", job.model.layers / parts);
    } else {
        list.add("num-virtual-stages-per-pipeline-rank", job.layout.virtual_stages);
    }
}

void add_layout(Arguments list, const Job& job, Unsayable& unsayable) {
    const Layout& layout = job.layout;
    list.add("tensor-model-parallel-size", layout.tensor);
    list.add("pipeline-model-parallel-size", layout.pipeline);
    list.add_size("context-parallel-size", layout.context);
    if (layout.context > 1) {
        list.add("cp-comm-type", job.context_method == ContextMethod::ring         ? "p2p"
                                 : job.context_method == ContextMethod::all_gather ? "all_gather"
                                                                                   : "a2a");
    }
    list.add_size("expert-model-parallel-size", layout.expert);
    if (job.model.experts.count > 0) list.add("expert-tensor-parallel-size", layout.expert_tensor);
    list.add_if(job.sequence_parallel == SequenceParallel::on, "sequence-parallel");
    add_schedule(list, job, unsayable);
    add_split(list, job);
    std::vector<std::string> pipeline_before_data = usual_order();
    std::erase(pipeline_before_data, "pipeline");
    pipeline_before_data.insert(std::ranges::find(pipeline_before_data, "data"), "pipeline");
    list.add_if(layout.order == pipeline_before_data, "use-tp-pp-dp-mapping");
    unsayable.unless(layout.order == usual_order() || layout.order == pipeline_before_data, "layout.order",
                     fmt::format("Megatron-LM has two orders of axes, and not {}", fmt::join(layout.order, ",")));
}

void add_precision(Arguments list, const Job& job, Unsayable& unsayable) {
    unsayable.unless(job.precision != Precision::fp32 || job.megatron.gradient_bytes != 2, "megatron.gradients",
                     "Megatron-LM keeps gradients of fp32 in fp32");
    list.add_if(job.precision == Precision::fp16, "fp16");
    list.add_if(job.precision == Precision::bf16 || is_narrow(job.precision), "bf16");
    if (job.precision == Precision::fp8) list.add("fp8-format", "hybrid");
    if (job.names_recipe == Setting::on) list.add("fp8-recipe", recipe_name(job.recipe));
    if (job.precision == Precision::fp4) list.add("fp4-format", "e2m1");
    list.add_if(job.megatron.eighth_parameters == Setting::on, "fp8-param-gather");
    const bool half = job.precision == Precision::bf16 || is_narrow(job.precision);
    list.add_if(half && job.megatron.gradient_bytes == 2, "grad-reduce-in-bf16");
    list.add_if(!half && job.megatron.gradient_bytes == 4, "accumulate-allreduce-grads-in-fp32");
}

void add_optimizer(Arguments list, const Job& job, Unsayable& unsayable) {
    const OptimizerSettings& own = job.optimizer;
    unsayable.unless(own.rule == UpdateRule::adam, "optimizer", "Megatron-LM 0.13 has no Muon");
    if (own.leave_device()) {
        list.add("optimizer-cpu-offload");
        list.add("optimizer-offload-fraction", own.fraction);
    }
    if (own.leave_device() && !is_precision_aware(own)) list.add("use-precision-aware-optimizer");
    if (!is_precision_aware(own)) return;
    constexpr std::array<std::string_view, 4> formats{"fp32", "bf16", "fp16", "fp8"};
    const auto word = [&](StateFormat format) { return formats.at(static_cast<std::size_t>(format)); };
    list.add("use-precision-aware-optimizer");
    list.add("main-params-dtype", word(own.master == StateFormat::remainders ? StateFormat::fp32 : own.master));
    list.add("exp-avg-dtype", word(own.momentum));
    list.add("exp-avg-sq-dtype", word(own.variance));
    unsayable.unless(own.master != StateFormat::fp32 || job.precision == Precision::fp16, "optimizer.master",
                     "since Transformer Engine 2.1 a precision-aware optimizer keeps remainders beside bf16");
}

void add_recompute(Arguments list, const Recomputation& recompute) {
    if (recompute == Recompute::none) return;
    const bool full = recompute.granularity == Recompute::full;
    list.add("recompute-granularity", full ? "full" : "selective");
    if (full) {
        list.add("recompute-method", recompute.method == RecomputeMethod::block ? "block" : "uniform");
        list.add("recompute-num-layers", recompute.layers);
    } else if (recompute != Recompute::selective) {
        list.add("recompute-modules", fmt::format("{}", fmt::join(recompute_names(recompute.parts), " ")));
    }
}

// What a version does not do by itself it has no flag for.
void check_version(const MegatronSettings& settings, Unsayable& unsayable) {
    const auto needs = [&](bool differs, std::string_view key) {
        unsayable.unless(!differs, key, fmt::format("Megatron-LM {} does not", settings.version.name));
    };
    const MegatronVersion& version = settings.version;
    needs(settings.fused_accumulation == Fusion::all && version.fused_accumulation != Fusion::all,
          "megatron.fused_accumulation");
    needs(settings.overlap_input_reduction == Setting::on && version.overlap_input_reduction == Setting::off,
          "megatron.overlap_input_reduction");
    needs(settings.overlap_pipeline == Setting::on && version.overlap_pipeline == Setting::off,
          "megatron.overlap_pipeline");
    needs(settings.check_for_nan == Setting::on && version.check_for_nan == Setting::off, "megatron.check_for_nan");
}

void add_sharding(Arguments& list, const MegatronSettings& settings, Unsayable& unsayable) {
    if (settings.sharding == MegatronSharding::none) return;
    list.add("use-megatron-fsdp");
    const bool parameters = settings.sharding == MegatronSharding::parameters;
    list.add("data-parallel-sharding-strategy", parameters ? "optim_grads_params" : "optim_grads");
    unsayable.unless(settings.accumulate == Accumulate::never, "megatron.accumulate_locally",
                     "Megatron-FSDP reduces gradients that are shared after every micro-batch");
    unsayable.unless(settings.fused_accumulation == Fusion::none, "megatron.fused_accumulation",
                     "Megatron-FSDP needs --no-gradient-accumulation-fusion");
}

void add_settings(Arguments list, const Job& job, Unsayable& unsayable) {
    const MegatronSettings& settings = job.megatron;
    check_version(settings, unsayable);
    list.add_if(job.zero == 1, "use-distributed-optimizer");
    list.add_if(job.gradient_overlap == Setting::on, "overlap-grad-reduce");
    add_sharding(list, settings, unsayable);
    list.add_if(settings.overlap_parameters == Setting::on, "overlap-param-gather");
    list.add_if(settings.overlap_tensor == Setting::on, "tp-comm-overlap");
    if (job.bucket_elements > 0) list.add("ddp-bucket-size", fmt::format("{:.0f}", job.bucket_elements));
    list.add("transformer-impl", settings.transformer_engine == Setting::on ? "transformer_engine" : "local");
    list.add("attention-backend", job.attention == AttentionCore::flash   ? "flash"
                                  : job.attention == AttentionCore::cudnn ? "fused"
                                                                          : "unfused");
    unsayable.unless(job.attention != AttentionCore::triton, "attention", "Megatron-LM has no Triton attention");
    unsayable.unless(job.element_wise == ElementWise::fused, "element_wise",
                     "Megatron-LM's element-wise kernels are fused");
    list.add_if(settings.fused_cross_entropy == Setting::on, "cross-entropy-loss-fusion");
    list.add_if(settings.variable_sequence == Setting::on, "variable-seq-lengths");
    list.add_if(settings.fused_accumulation == Fusion::none, "no-gradient-accumulation-fusion");
    list.add_if(settings.overlap_input_reduction == Setting::off, "no-async-tensor-model-parallel-allreduce");
    list.add_if(settings.overlap_pipeline == Setting::off, "no-overlap-p2p-communication");
    list.add_if(settings.check_for_nan == Setting::off && settings.version.check_for_nan == Setting::on,
                "no-check-for-nan-in-loss-and-grad");
    list.add_if(job.cuda_graphs != CudaGraphs::none, "enable-cuda-graph");
    if (job.cuda_graphs == CudaGraphs::full) list.add("cuda-graph-scope", "full_iteration");
    if (job.cuda_graphs == CudaGraphs::router) list.add("cuda-graph-scope", "moe_router moe_preprocess");
    if (job.cuda_graphs == CudaGraphs::around_experts) list.add("cuda-graph-scope", "attn moe_router moe_preprocess");
}

void add_training(Arguments list, const Job& job, Unsayable& unsayable) {
    list.add("micro-batch-size", job.batch.micro);
    list.add("global-batch-size", job.batch.global);
    add_precision(list, job, unsayable);
    add_recompute(list, job.recompute);
    if (job.offloaded_layers > 0) list.add("cpu-offloading-num-layers", job.offloaded_layers);
    add_optimizer(list, job, unsayable);
    add_settings(list, job, unsayable);
    const double dropout = job.dropout == Dropout::on ? 0.1 : 0.0;
    list.add("attention-dropout", dropout);
    list.add("hidden-dropout", dropout);
    // Data and steps to try it with; what is learned is another matter. The null tokenizer adds a token of its own.
    list.add("mock-data");
    list.add("tokenizer-type", "NullTokenizer");
    list.add("vocab-size", job.model.vocabulary - 1);
    list.add("train-iters", 20);
    list.add("lr", "1e-4");
    list.add("eval-iters", 0);
    list.add("log-interval", 1);
    list.add_if(true, "log-throughput");
}

}  // namespace

MegatronArguments megatron_arguments(const Study& study, Unsayable& unsayable) {
    const Job& job = study.job;
    unsayable.unless(job.framework->name == "megatron", "framework",
                     fmt::format("expected megatron, the job's is {}", job.framework->name));
    unsayable.unless(job.zero <= 1, "zero", "Megatron-LM has the distributed optimizer, which is ZeRO-1");
    MegatronArguments arguments;
    add_model(Arguments(arguments.model), job, unsayable);
    add_layout(Arguments(arguments.layout), job, unsayable);
    add_training(Arguments(arguments.training), job, unsayable);
    return arguments;
}

std::string megatron_environment(const Job& job) {
    std::string text;
    // Tensor parallelism relies on the order of launches (megatron/training/arguments.py checks it), but for graphs.
    if (job.layout.tensor > 1 || job.layout.context > 1) text += "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
    if (job.blocking_launches == Setting::on) text += "export CUDA_LAUNCH_BLOCKING=1\n";
    return text;
}

std::string bash_array(std::string_view name, const std::vector<std::string>& arguments) {
    return fmt::format("{}=(\n    {}\n)\n", name, fmt::join(arguments, "\n    "));
}

}  // namespace weft
