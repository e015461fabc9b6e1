// DeepSpeed's configuration file of a job with data parallelism alone, which is all that it has keys for; and
// GPT-NeoX's, which has the same keys beside those of model and layout (EleutherAI/gpt-neox configs/neox_arguments.md).
// YAML takes JSON with comments of its own, and so does GPT-NeoX.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/transformer/transformer.hpp"
#include "sim/io/draft.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/keys/key.hpp"

namespace weft::exports {
namespace {

void add_batch(Draft& config, const Job& job) {
    config.set("train_batch_size", job.batch.global, {});
    config.set("train_micro_batch_size_per_gpu", job.batch.micro, {});
    config.set("gradient_accumulation_steps", job.micro_batches(), {});
}

void add_precision(Draft& config, const Job& job, Unsayable& unsayable) {
    if (job.precision == Precision::fp16) config.object("fp16").set("enabled", true, {});
    if (job.precision == Precision::bf16) config.object("bf16").set("enabled", true, {});
    unsayable.unless(!is_narrow(job.precision), "precision", "DeepSpeed's configuration has no fp8");
}

void add_stage3(Draft& zero, const DeepSpeedSettings& settings) {
    zero.set("stage3_prefetch_bucket_size", settings.prefetch_elements, {});
    zero.set("stage3_param_persistence_threshold", settings.persistence_elements, {});
    zero.set("stage3_max_live_parameters", settings.max_live_elements, {});
    zero.set("stage3_max_reuse_distance", settings.max_reuse_elements, {});
    zero.set("sub_group_size", settings.sub_group_elements, {});
    if (settings.hierarchical_ranks > 1) zero.set("zero_hpz_partition_size", settings.hierarchical_ranks, {});
    if (is_on(settings.quantized_weights)) zero.set("zero_quantized_weights", true, {});
    if (is_on(settings.quantized_gradients)) zero.set("zero_quantized_gradients", true, {});
}

void add_zero(Draft& config, const Job& job) {
    if (job.zero == 0) return;
    Draft& zero = config.object("zero_optimization");
    zero.set("stage", job.zero, {});
    zero.set("overlap_comm", is_on(job.gradient_overlap), {});
    zero.set("reduce_scatter", is_on(job.deepspeed.reduce_scatter), {});
    zero.set("contiguous_gradients", true, {});
    if (job.bucket_elements > 0) {
        zero.set("reduce_bucket_size", job.bucket_elements, {});
        zero.set("allgather_bucket_size", job.bucket_elements, {});
    }
    if (job.deepspeed.multi_rank_allreduce)
        zero.set("use_multi_rank_bucket_allreduce", is_on(*job.deepspeed.multi_rank_allreduce), {});
    if (job.optimizer.leave_device()) {
        zero.object("offload_optimizer").set("device", job.optimizer.states == StatesOn::nvme ? "nvme" : "cpu", {});
    }
    if (job.deepspeed.parameters != ParametersOn::device) {
        zero.object("offload_param").set("device", job.deepspeed.parameters == ParametersOn::nvme ? "nvme" : "cpu", {});
    }
    if (job.zero == 3) add_stage3(zero, job.deepspeed);
}

// What a job says that DeepSpeed's configuration has keys for: batch, precision, ZeRO. What they cannot say goes to
// `unsayable`.
Draft deepspeed_keys(const Study& study, Unsayable& unsayable) {
    const Job& job = study.job;
    unsayable.unless(job.framework->name == "deepspeed", "framework",
                     fmt::format("expected deepspeed, the job's is {}", job.framework->name));
    Draft config;
    add_batch(config, job);
    add_precision(config, job, unsayable);
    add_zero(config, job);
    if (is_on(job.deepspeed.log_calls)) config.object("comms_logger").set("enabled", true, {});
    return config;
}

// What the script that it goes with says of the job, as --set takes it: DeepSpeed asks for no such key, import_files()
// does.
void add_rest(Draft& config, const Study& study) {
    const Job& job = study.job;
    Draft& rest = config.object("weft");
    for (const std::string& assignment : own_assignments({"", own_keys(study, "deepspeed")})) {
        const std::size_t equals = assignment.find('=');
        rest.set(assignment.substr(0, equals), assignment.substr(equals + 1), {});
    }
    const std::vector<std::string> shipped = model_names();
    if (std::ranges::binary_search(shipped, job.model.name)) {
        rest.erase("model.name");
        rest.erase("model.vocabulary");
        rest.set("model", job.model.name, {});
    }
    rest.set("batch.sequence", std::to_string(job.batch.sequence), {});
    for (const std::string_view key : {"recompute", "attention", "dropout", "element_wise"})
        rest.set(key, text_of(job, key), {});
}

std::string write_deepspeed(const Study& study) {
    Unsayable unsayable(study);
    const Layout& layout = study.job.layout;
    unsayable.unless(layout.ranks() == layout.data, "layout",
                     fmt::format("DeepSpeed's configuration says nothing of {}; --format neox does", axes(layout)));
    Draft config = deepspeed_keys(study, unsayable);
    unsayable.check();
    const DeepSpeedSettings& settings = study.job.deepspeed;
    if (settings.partition_activations == Setting::on || settings.synchronize_each_layer == Setting::on) {
        Draft& checkpointing = config.object("activation_checkpointing");
        checkpointing.set("partition_activations", settings.partition_activations == Setting::on, {});
        checkpointing.set("synchronize_checkpoint_boundary", settings.synchronize_each_layer == Setting::on, {});
    }
    if (settings.wall_clock_breakdown == Setting::on) config.set("wall_clock_breakdown", true, {});
    config.set("steps_per_print", 10, {});
    add_rest(config, study);
    return config.text();
}

void add_model(Draft& config, const Transformer& model, Unsayable& unsayable) {
    config.set("num_layers", model.layers, {});
    config.set("hidden_size", model.hidden, {});
    config.set("num_attention_heads", model.heads, {});
    if (model.kv_heads != model.heads) config.set("num_kv_heads", model.kv_heads, {});
    // Of a gated MLP GPT-NeoX takes a third (ParallelMLP: 2/3 of it for two matrices).
    config.set("intermediate_size", std::uint64_t{model.ffn_hidden} * (model.gated ? 3 : 1), {});
    if (model.gated) config.set("mlp_multiple_of", 1, {});
    config.set("activation", model.gated ? "swiglu" : "gelu", {});
    config.set("norm", model.norm == Norm::rms_norm ? "rmsnorm" : "layernorm", {});
    config.set("pos_emb",
               model.positions == Positions::rotary    ? "rotary"
               : model.positions == Positions::learned ? "learned"
               : model.positions == Positions::alibi   ? "alibi"
                                                       : "none",
               {});
    config.set("no_weight_tying", !model.tied_embeddings, {});
    config.set("gpt_j_residual", model.parallel_residual, {});
    config.set("gpt_j_tied", model.norm_placement == NormPlacement::shared, {});
    config.set("use_bias_in_attn_linear", model.biases.qkv, {});
    config.set("use_bias_in_mlp", model.biases.mlp, {});
    unsayable.unless(model.biases.qkv == model.biases.projection, "model.biases",
                     "GPT-NeoX has both of attention or none");
    refuse_rare_terms(model, unsayable);
    refuse_unlike_layers(model, unsayable);
    config.set("make_vocab_size_divisible_by", model.vocabulary_multiple, {});
    unsayable.unless(model.experts.count == 0, "model.experts", "weft writes GPT-NeoX's dense models");
    unsayable.unless(!model.has_latent_attention(), "model.latent_attention", "GPT-NeoX has none");
    unsayable.unless(model.query_key_norm == QueryKeyNorm::none, "model.query_key_norm", "GPT-NeoX has none");
    unsayable.unless(model.head_size * model.heads == model.hidden, "model.head_size",
                     "GPT-NeoX's heads share the hidden size");
}

void add_layout(Draft& config, const Job& job, Unsayable& unsayable) {
    const Layout& layout = job.layout;
    // 0: no pipeline engine, so that reductions may overlap.
    config.set("pipe_parallel_size", layout.pipeline > 1 ? layout.pipeline : 0, {});
    config.set("model_parallel_size", layout.tensor, {});
    unsayable.unless(layout.context == 1, "layout.context", "GPT-NeoX has no context parallelism");
    unsayable.unless(job.schedule->key == "1f1b" || layout.pipeline == 1, "schedule", "DeepSpeed runs 1f1b");
    unsayable.unless(layout.is_ordered({"tensor", "data", "pipeline"}), "layout.order",
                     "GPT-NeoX has one order of axes: tensor, data, pipeline");
    unsayable.unless(layout.split == StageSplit::framework || layout.pipeline == 1, "layout.split",
                     "GPT-NeoX deals layers by its own rule");
    unsayable.unless(job.sequence_parallel == SequenceParallel::off, "sequence_parallel",
                     "not in DeepSpeed's GPT-NeoX");
}

// One switch of weft's stands for two of GPT-NeoX's, whose rotary embedding is one kernel but in bf16.
void add_element_wise(Draft& config, const Job& job, Unsayable& unsayable) {
    const bool fused = job.element_wise == ElementWise::fused, rotary = job.model.positions == Positions::rotary;
    config.set("rope_fusion", fused && rotary, {});
    config.set("bias_dropout_fusion", fused, {});
    unsayable.unless(fused || !rotary || job.precision == Precision::bf16, "element_wise",
                     "GPT-NeoX's rotary embedding is one kernel but in bf16");
}

void add_training(Draft& config, const Job& job, Unsayable& unsayable) {
    config.set("seq_length", job.batch.sequence, {});
    config.set("max_position_embeddings", std::max(job.batch.sequence, job.model.positions_length), {});
    const bool full = job.recompute.granularity == Recompute::full;
    config.set("checkpoint_activations", full, {});
    if (full) {
        config.set("checkpoint_num_layers", job.recompute.group(), {});
        config.set("partition_activations", job.deepspeed.partition_activations == Setting::on, {});
    }
    config.set("synchronize_each_layer", job.deepspeed.synchronize_each_layer == Setting::on, {});
    if (job.deepspeed.wall_clock_breakdown == Setting::on) config.set("wall_clock_breakdown", true, {});
    config.set_json(
        "attention_config",
        fmt::format(R"([[["{}"], {}]])", job.attention == AttentionCore::flash ? "flash" : "global", job.model.layers),
        {});
    const double dropout = job.dropout == Dropout::on ? 0.1 : 0.0;
    config.set("attention_dropout", dropout, {});
    config.set("hidden_dropout", dropout, {});
    add_element_wise(config, job, unsayable);
    unsayable.unless(job.recompute.granularity != Recompute::selective, "recompute",
                     "GPT-NeoX recomputes whole layers or nothing");
    unsayable.unless(job.attention == AttentionCore::flash || job.attention == AttentionCore::unfused, "attention",
                     "GPT-NeoX has flash and unfused attention");
}

std::string write_neox(const Study& study) {
    Unsayable unsayable(study);
    Draft config;
    add_layout(config, study.job, unsayable);
    add_model(config, study.job.model, unsayable);
    add_training(config, study.job, unsayable);
    const Draft deepspeed = deepspeed_keys(study, unsayable);
    refuse_placement(study, unsayable);
    unsayable.check();
    config.add(deepspeed);
    return fmt::format("# {} on {} nodes of {}: {}. For EleutherAI/gpt-neox, beside a file with data and optimizer.\n",
                       study.job.model.name, study.job.nodes, study.machine.info().name, axes(study.job.layout)) +
           own_keys(study, "deepspeed") + config.text();
}

}  // namespace

extern const ExportFormat deepspeed{"deepspeed", "DeepSpeed configuration", write_deepspeed};
extern const ExportFormat neox{"neox", "GPT-NeoX configuration", write_neox};

}  // namespace weft::exports
