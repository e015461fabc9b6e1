// A job as the arguments of Megatron-LM's pretrain_gpt.py: megatron/training/arguments.py of Megatron-core. Those that
// follow from one key of the job are in workloads/formats/megatron/megatron_arguments.json.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/transformer/flops.hpp"
#include "models/transformer/transformer.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/keys/key.hpp"
#include "workloads/parallelism/experts.hpp"

namespace weft {
namespace {

// An array of arguments, each with its value: "--hidden-size 4096".
class Arguments {
  public:
    template <class Value>
    void add(std::string_view flag, const Value& value) {
        list_.push_back(fmt::format("--{} {}", flag, value));
    }
    void add(std::string_view flag) { list_.push_back(fmt::format("--{}", flag)); }
    template <class... Value>
    void add_if(bool given, std::string_view flag, const Value&... value) {
        if (given) add(flag, value...);
    }
    // Those of a group of megatron_arguments.json, each of which follows from one key of the job.
    void add_group(const Job& job, std::string_view group) {
        static Document table = format_table("megatron_arguments");
        for (Field& row : table.copy().root().list(group)) {
            std::vector<Field> parts = row.elements();
            std::string value = text_of(job, parts[1].as_text());
            if (parts.size() > 2) {
                if (!parts[2].has(value)) continue;
                value = parts[2].text(value);
            }
            list_.push_back(fmt::format("--{}{}{}", parts[0].as_text(), value.empty() ? "" : " ", value));
        }
    }
    std::string text(std::string_view name) const {
        return fmt::format("{}=(\n    {}\n)\n", name, fmt::join(list_, "\n    "));
    }

  private:
    std::vector<std::string> list_;
};

void add_attention(Arguments& list, const Transformer& model) {
    list.add("num-attention-heads", model.heads);
    if (model.has_latent_attention()) {
        list.add("multi-latent-attention");
        list.add("qk-layernorm");  // of the latent vectors
        list.add_if(model.latent.q_rank > 0, "q-lora-rank", model.latent.q_rank);
        list.add("kv-lora-rank", model.latent.kv_rank);
        list.add("qk-head-dim", model.latent.nope_size);
        list.add("qk-pos-emb-head-dim", model.latent.rope_size);
        list.add("v-head-dim", model.latent.value_size);
        return;
    }
    list.add_if(model.kv_heads != model.heads, "group-query-attention");
    list.add_if(model.kv_heads != model.heads, "num-query-groups", model.kv_heads);
    list.add_if(model.head_size * model.heads != model.hidden, "kv-channels", model.head_size);
    list.add_if(model.query_key_norm != QueryKeyNorm::none, "qk-layernorm");
}

// "([0]*3+[1]*58)": which layers have experts.
std::string layer_frequency(const Transformer& model) {
    const Experts& experts = model.experts;
    if (experts.first_dense == 0) return fmt::format("{}", experts.every);
    if (experts.every == 1)
        return fmt::format("\"([0]*{}+[1]*{})\"", experts.first_dense, model.layers - experts.first_dense);
    const auto mark = [&](std::uint32_t layer) { return layer_kind(model, layer) == LayerKind::expert ? 1 : 0; };
    const auto found = list_of<int>(numbers_below<std::uint32_t>(model.layers), mark);
    return fmt::format("\"[{}]\"", fmt::join(found, ","));
}

// With the coefficient that arguments.py recommends to start with.
void add_balancing_losses(Arguments& list, const Job& job) {
    std::vector<std::string_view> types;
    for (const auto& [loss, type] : {std::pair{Balancing::auxiliary_loss, "aux_loss"},
                                     std::pair{Balancing::sequence_auxiliary_loss, "seq_aux_loss"},
                                     std::pair{Balancing::global_auxiliary_loss, "global_aux_loss"}}) {
        if (balances_by(job, loss)) types.emplace_back(type);
    }
    const std::vector<std::string_view> coefficients(types.size(), "0.01");
    list.add_if(!types.empty(), "moe-router-load-balancing-type", fmt::format("{}", fmt::join(types, " ")));
    list.add_if(!types.empty(), "moe-aux-loss-coeff", fmt::format("{}", fmt::join(coefficients, " ")));
}

void add_experts(Arguments& list, const Job& job) {
    const Experts& experts = job.model.experts;
    if (experts.count == 0) return;
    list.add("num-experts", experts.count);
    list.add("moe-router-topk", experts.top_k);
    list.add("moe-ffn-hidden-size", experts.ffn_hidden);
    if (experts.shared > 0)
        list.add("moe-shared-expert-intermediate-size", std::uint64_t{experts.shared} * experts.shared_ffn_hidden);
    list.add_if(job.model.kinds.empty() && (experts.first_dense > 0 || experts.every > 1), "moe-layer-freq",
                layer_frequency(job.model));
    list.add_if(experts.shared_gate, "moe-shared-expert-gate");
    list.add_if(experts.latent > 0, "moe-latent-size", experts.latent);
    list.add_if(experts.balancing_bias, "moe-router-enable-expert-bias");
    add_balancing_losses(list, job);
    list.add_group(job, "experts");
    list.add_if(experts.groups > 1, "moe-router-num-groups", experts.groups);
    list.add_if(experts.groups > 1, "moe-router-group-topk", experts.token_groups);
    list.add("moe-grouped-gemm");
    list.add_if(job.experts.capacity_factor > 0, "moe-expert-capacity-factor", job.experts.capacity_factor);
    const ExpertOverlap overlap = expert_overlap(job);
    list.add_if(overlap == ExpertOverlap::passes, "overlap-moe-expert-parallel-comm");
    list.add_if(overlap == ExpertOverlap::shared_experts, "moe-shared-expert-overlap");
    list.add_if(delays_weight_gradients(job) == Setting::on, "delay-wgrad-compute");
}

void add_model(Arguments& list, const Job& job, Unsayable& unsayable) {
    const MegatronLayers layers = megatron_layers(job, unsayable);
    const Transformer& model = layers.alike;
    list.add("use-mcore-models");
    list.add("num-layers", model.layers);
    list.add_if(model.mtp_layers > 0, "mtp-num-layers", model.mtp_layers);
    list.add("hidden-size", model.hidden);
    list.add("ffn-hidden-size", model.ffn_hidden);
    add_attention(list, model);
    for (const std::string& flag : layers.flags) list.add(flag);
    list.add("seq-length", job.batch.sequence);
    list.add("max-position-embeddings", std::max(job.batch.sequence, model.positions_length));
    list.add("position-embedding-type", model.positions == Positions::rotary    ? "rope"
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

void add_split(Arguments& list, const Job& job) {
    const Layout& layout = job.layout;
    if (is_hybrid(job.model)) return;
    const bool by_ends = layout.split == StageSplit::ends, by_numbers = !by_ends && !is_listed(job);
    list.add_if(by_ends, "account-for-embedding-in-pipeline-split");
    list.add_if(by_ends, "account-for-loss-in-pipeline-split");
    if (is_listed(job))
        list.add(
            "pipeline-model-parallel-layout",
            fmt::format("'{}'", stage_layout_text(layout.by_hand.layers, job.prediction_part(), job.model.mtp_layers)));
    list.add_if(by_numbers && layout.by_hand.first > 0, "decoder-first-pipeline-num-layers", layout.by_hand.first);
    list.add_if(by_numbers && layout.by_hand.last > 0, "decoder-last-pipeline-num-layers", layout.by_hand.last);
}

void add_schedule(Arguments& list, const Job& job, Unsayable& unsayable) {
    const bool interleaved = job.schedule->key == "interleaved";
    unsayable.unless(interleaved || job.schedule->key == "1f1b" || job.layout.pipeline == 1, "schedule",
                     fmt::format("Megatron-LM runs 1f1b and interleaved, not {}", job.schedule->key));
    // A list or a hybrid pattern says the parts.
    if (!interleaved || job.layout.pipeline == 1 || is_listed(job) || is_hybrid(job.model)) return;
    const std::uint32_t parts = job.model_parts();
    const bool equal = job.layout.split != StageSplit::ends && job.model.layers % parts == 0;
    list.add_if(equal, "num-layers-per-virtual-pipeline-stage", job.model.layers / parts);
    list.add_if(!equal, "num-virtual-stages-per-pipeline-rank", job.layout.virtual_stages);
}

void add_layout(Arguments& list, const Job& job, Unsayable& unsayable) {
    const Layout& layout = job.layout;
    list.add_group(job, "layout");
    if (layout.context > 1) list.add_group(job, "context");
    list.add_if(layout.expert > 1, "expert-model-parallel-size", layout.expert);
    list.add_if(job.model.experts.count > 0, "expert-tensor-parallel-size", layout.expert_tensor);
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

void add_precision(Arguments& list, const Job& job, Unsayable& unsayable) {
    unsayable.unless(job.precision != Precision::fp32 || job.megatron.gradient_bytes != 2, "megatron.gradients",
                     "Megatron-LM keeps gradients of fp32 in fp32");
    const bool half = job.precision == Precision::bf16 || is_narrow(job.precision);
    list.add_group(job, "precision");
    if (job.names_recipe == Setting::on) list.add_group(job, "recipe");
    list.add_group(job, "parameters");
    list.add_if(half && job.megatron.gradient_bytes == 2, "grad-reduce-in-bf16");
    list.add_if(!half && job.megatron.gradient_bytes == 4, "accumulate-allreduce-grads-in-fp32");
}

void add_optimizer(Arguments& list, const Job& job, Unsayable& unsayable) {
    const OptimizerSettings& own = job.optimizer;
    unsayable.unless(own.rule == UpdateRule::adam, "optimizer", "Megatron-LM 0.13 has no Muon");
    list.add_if(own.leave_device(), "optimizer-cpu-offload");
    list.add_if(own.leave_device(), "optimizer-offload-fraction", own.fraction);
    list.add_if(own.leave_device() || is_precision_aware(own), "use-precision-aware-optimizer");
    if (!is_precision_aware(own)) return;
    list.add_group(job, "states");
    unsayable.unless(own.master != StateFormat::fp32 || job.precision == Precision::fp16, "optimizer.master",
                     "since Transformer Engine 2.1 a precision-aware optimizer keeps remainders beside bf16");
}

void add_recompute(Arguments& list, const Recomputation& recompute) {
    if (recompute == Recompute::none) return;
    const bool full = recompute.granularity == Recompute::full;
    list.add("recompute-granularity", full ? "full" : "selective");
    list.add_if(full, "recompute-method", recompute.method == RecomputeMethod::block ? "block" : "uniform");
    list.add_if(full, "recompute-num-layers", recompute.layers);
    if (!full && recompute != Recompute::selective)
        list.add("recompute-modules", fmt::format("{}", fmt::join(recompute_names(recompute.parts), " ")));
}

// What a version does not do by itself it has no flag for.
void check_version(const MegatronSettings& settings, Unsayable& unsayable) {
    const MegatronVersion& version = settings.version;
    const std::string why = fmt::format("Megatron-LM {} does not", version.name);
    unsayable.unless(settings.fused_accumulation != Fusion::all || version.fused_accumulation == Fusion::all,
                     "megatron.fused_accumulation", why);
    const auto unless_beyond = [&](Setting own, Setting of_version, std::string_view key) {
        unsayable.unless(own != Setting::on || of_version != Setting::off, key, why);
    };
    unless_beyond(settings.overlap_input_reduction, version.overlap_input_reduction,
                  "megatron.overlap_input_reduction");
    unless_beyond(settings.overlap_pipeline, version.overlap_pipeline, "megatron.overlap_pipeline");
    unless_beyond(settings.check_for_nan, version.check_for_nan, "megatron.check_for_nan");
}

void add_sharding(Arguments& list, const Job& job, Unsayable& unsayable) {
    const MegatronSettings& settings = job.megatron;
    if (settings.sharding == MegatronSharding::none) return;
    list.add("use-megatron-fsdp");
    list.add_group(job, "sharding");
    unsayable.unless(settings.accumulate == Accumulate::never, "megatron.accumulate_locally",
                     "Megatron-FSDP reduces gradients that are shared after every micro-batch");
    unsayable.unless(settings.fused_accumulation == Fusion::none, "megatron.fused_accumulation",
                     "Megatron-FSDP needs --no-gradient-accumulation-fusion");
}

void add_settings(Arguments& list, const Job& job, Unsayable& unsayable) {
    const MegatronSettings& settings = job.megatron;
    check_version(settings, unsayable);
    list.add_group(job, "reduction");
    add_sharding(list, job, unsayable);
    list.add_group(job, "overlap");
    list.add_if(job.bucket_elements > 0, "ddp-bucket-size", fmt::format("{:.0f}", job.bucket_elements));
    unsayable.unless(job.attention != AttentionCore::triton, "attention", "Megatron-LM has no Triton attention");
    unsayable.unless(settings.eighth_attention == Setting::off, "megatron.fp8_attention",
                     "Megatron-LM has no argument for fp8_dot_product_attention, which configurations in Python set");
    unsayable.unless(job.element_wise == ElementWise::fused, "element_wise",
                     "Megatron-LM's element-wise kernels are fused");
    list.add_group(job, "kernels");
    list.add_if(settings.check_for_nan == Setting::off && settings.version.check_for_nan == Setting::on,
                "no-check-for-nan-in-loss-and-grad");
    list.add_group(job, "checkpoints");
    list.add_group(job, "graphs");
}

void add_training(Arguments& list, const Job& job, Unsayable& unsayable) {
    list.add_group(job, "batch");
    add_precision(list, job, unsayable);
    add_recompute(list, job.recompute);
    list.add_if(job.offloaded_layers > 0, "cpu-offloading-num-layers", job.offloaded_layers);
    add_optimizer(list, job, unsayable);
    add_settings(list, job, unsayable);
    list.add_group(job, "dropout");
    // Data and steps to try it with; what is learned is another matter. The null tokenizer adds a token of its own.
    list.add("mock-data");
    list.add("tokenizer-type", "NullTokenizer");
    list.add("vocab-size", job.model.vocabulary - 1);
    for (const std::string_view rest :
         {"train-iters 20", "lr 1e-4", "eval-iters 0", "log-interval 1", "log-throughput"})
        list.add(rest);
}

}  // namespace

std::string megatron_arguments(const Study& study, Unsayable& unsayable) {
    const Job& job = study.job;
    unsayable.unless(job.framework->name == "megatron", "framework",
                     fmt::format("expected megatron, the job's is {}", job.framework->name));
    unsayable.unless(job.zero <= 1, "zero", "Megatron-LM has the distributed optimizer, which is ZeRO-1");
    Arguments model, layout, training;
    add_model(model, job, unsayable);
    add_layout(layout, job, unsayable);
    add_training(training, job, unsayable);
    return model.text("MODEL_ARGS") + layout.text("LAYOUT_ARGS") + training.text("TRAINING_ARGS");
}

}  // namespace weft
