// A GPT-NeoX configuration: model, layout and training of a job under DeepSpeed. Keys: EleutherAI/gpt-neox
// configs/neox_arguments.md. YAML takes JSON with comments of its own, and so does GPT-NeoX.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/transformer/transformer.hpp"
#include "workloads/exports/deepspeed_keys.hpp"
#include "workloads/exports/run_keys.hpp"

namespace weft::exports {
namespace {

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

std::string write(const Study& study) {
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

extern const ExportFormat neox;
const ExportFormat neox{"neox", "GPT-NeoX configuration", write, nullptr};

}  // namespace weft::exports
