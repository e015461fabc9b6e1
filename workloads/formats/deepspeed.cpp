// A DeepSpeed configuration (ds_config.json): batch, precision and ZeRO of a job. The model and the layout are the
// script's that it goes with, so they are the user's to say. Keys and defaults: microsoft/DeepSpeed runtime/config.py,
// runtime/constants.py, runtime/zero/config.py. The word "auto" (Hugging Face's Trainer) says: as elsewhere.
#include <fmt/format.h>

#include <string>

#include "workloads/formats/format.hpp"
#include "workloads/formats/keys.hpp"

namespace weft::formats {
namespace {

using Severity = FormatNote::Severity;

bool recognises(const SourceFile& file) {
    if (file.text.find_first_not_of(" \t\r\n") != file.text.find('{')) return false;  // JSON
    for (const std::string_view key : {"\"zero_optimization\"", "\"train_micro_batch_size_per_gpu\"",
                                       "\"train_batch_size\"", "\"zero_allow_untested_optimizer\""}) {
        if (file.text.find(key) != std::string::npos) return true;
    }
    return false;
}

// Whether the key is there and says something itself.
bool given(Field& field, std::string_view key) {
    return field.has(key) && !(field.is_text(key) && field.text(key) == "auto");
}

// Sizes are often written as texts: "5e8".
double size(Field& field, std::string_view key) {
    if (!field.is_text(key)) return field.number(key);
    Document word = Document::parse("--set", "{}");
    word.assign("size=" + field.text(key));
    if (word.root().is_number("size")) return word.root().number("size");
    field.error(key, "expected a number or \"auto\", got \"" + field.text(key) + "\"");
    return 1;
}

void take_size(Field& from, std::string_view key, Draft& to, std::string_view name) {
    if (given(from, key)) to.set(name, size(from, key), from.origin(key));
}

void take_setting(Field& from, std::string_view key, Draft& job, std::string_view name) {
    if (given(from, key)) take_flag(from, key, job.object("deepspeed"), name);
}

// train_batch_size = micro-batch x accumulation steps x data ranks: two of the first three give the third.
class Batch {
  public:
    Batch(Import& import, Field& root, const FormatOptions& options)
        : import_(import), root_(root), options_(options) {}

    void read() {
        const double micro = value("train_micro_batch_size_per_gpu"), steps = value("gradient_accumulation_steps"),
                     whole = value("train_batch_size");
        Draft& batch = import_.object.object("batch");
        const double ranks = static_cast<double>(ranks_of(options_));
        if (micro > 0) {
            batch.set("micro", micro, root_.origin("train_micro_batch_size_per_gpu"));
        } else if (whole > 0 && ranks > 0) {
            set_whole(batch, "micro", whole / (ranks * (steps > 0 ? steps : 1)),
                      "train_batch_size / accumulation steps / ranks");
        } else if (!overridden_by_user(options_, "batch.micro")) {
            ask("batch.micro", "sequences per micro-batch");
        }
        if (whole > 0) {
            batch.set("global", whole, root_.origin("train_batch_size"));
        } else if (micro > 0 && ranks > 0) {
            const double all = micro * (steps > 0 ? steps : 1) * ranks;
            set_whole(batch, "global", all, "micro-batch x accumulation steps x ranks");
            import_.note(Severity::note, root_.origin("gradient_accumulation_steps"),
                         fmt::format("batch.global is {:g} where all {:g} ranks are data ranks", all, ranks));
        } else if (!overridden_by_user(options_, "batch.global")) {
            ask("batch.global", "sequences per step");
        }
    }

  private:
    double value(std::string_view key) { return given(root_, key) ? size(root_, key) : 0; }
    void set_whole(Draft& batch, std::string_view name, double value, std::string formula) {
        Origin origin = root_.origin("");
        origin.key = std::move(formula);
        batch.set(name, value, std::move(origin));
    }
    void ask(std::string_view key, std::string_view what) {
        import_.note(Severity::error, {.file = {}, .line = 0, .key = std::string(key)},
                     fmt::format("the input does not say it; give --set {}=N ({})", key, what));
    }

    Import& import_;
    Field& root_;
    const FormatOptions& options_;
};

void read_precision(Import& import, Field& root) {
    for (const std::string_view name : {"fp16", "bf16", "bfloat16"}) {
        if (!root.has(name)) continue;
        Field field = root.object(name);
        if (given(field, "enabled") && field.flag("enabled")) {
            import.object.set("precision", name == "fp16" ? "fp16" : "bf16", field.origin("enabled"));
        }
        without_effect(
            import, field,
            {"enabled", "loss_scale", "initial_scale_power", "loss_scale_window", "hysteresis",
             "consecutive_hysteresis", "min_loss_scale", "auto_cast", "immediate_grad_update", "check_grad_overflow"});
        note_rest(import, field);
    }
    // DeepSpeed's own default is fp32; Hugging Face's "auto" follows the Trainer, which is given elsewhere.
    if (!import.object.has("precision") && !root.has("fp16") && !root.has("bf16"))
        import.object.set("precision", "fp32", {.file = {}, .line = 0, .key = "DeepSpeed's default"});
}

bool is_on(Field& field, std::string_view key) { return field.is_flag(key) && field.flag(key); }

void read_offload(Import& import, Field& zero, std::string_view key) {
    if (!zero.has(key)) return;
    const bool none = zero.is_object(key) && zero.object(key).text("device", "none") == "none";
    if (none) {
        import.without_effect.push_back(zero.origin(key));
    } else {
        refuse_key(import, zero, key, "weft has no offloading of states to the host or to NVMe");
    }
}

void read_zero(Import& import, Field& root, const FormatOptions&) {
    if (!root.has("zero_optimization")) return;
    Field zero = root.object("zero_optimization");
    Draft& job = import.object;
    if (zero.has("stage")) job.set("zero", zero.whole("stage"), zero.origin("stage"));
    take_size(zero, "reduce_bucket_size", job, "bucket_elements");
    if (given(zero, "overlap_comm")) take_flag(zero, "overlap_comm", job, "overlap_gradients");
    take_setting(zero, "reduce_scatter", job, "reduce_scatter");
    take_setting(zero, "use_multi_rank_bucket_allreduce", job, "multi_rank_allreduce");
    take_setting(zero, "zero_quantized_weights", job, "quantized_weights");
    take_setting(zero, "zero_quantized_gradients", job, "quantized_gradients");
    const auto elements = [&](std::string_view key, std::string_view name) {
        if (given(zero, key)) take_size(zero, key, job.object("deepspeed"), name);
    };
    elements("stage3_prefetch_bucket_size", "prefetch_elements");
    elements("stage3_param_persistence_threshold", "persistence_elements");
    elements("stage3_max_live_parameters", "max_live_elements");
    elements("stage3_max_reuse_distance", "max_reuse_elements");
    elements("sub_group_size", "sub_group_elements");
    if (given(zero, "zero_hpz_partition_size") && zero.count("zero_hpz_partition_size") > 1)
        take_count(zero, "zero_hpz_partition_size", job.object("deepspeed"), "hierarchical_ranks");
    for (const std::string_view key : {"offload_param", "offload_optimizer"}) read_offload(import, zero, key);
    for (const std::string_view key : {"cpu_offload", "cpu_offload_params"}) {
        if (is_on(zero, key)) refuse_key(import, zero, key, "weft has no offloading of states to the host");
    }
    if (zero.is_number("mics_shard_size") && zero.number("mics_shard_size") > 0)
        refuse_key(import, zero, "mics_shard_size", "weft has no MiCS groups of DeepSpeed");
    zero.has("mics_shard_size");
    without_effect(import, zero,
                   {"allgather_partitions", "allgather_bucket_size", "contiguous_gradients",
                    "stage3_gather_16bit_weights_on_model_save", "stage3_gather_fp16_weights_on_model_save",
                    "load_from_fp32_weights", "elastic_checkpoint", "ignore_unused_parameters",
                    "memory_efficient_linear", "cpu_offload", "cpu_offload_params", "round_robin_gradients"});
    note_rest(import, zero);
}

void read_checkpointing(Import& import, Field& root) {
    if (!root.has("activation_checkpointing")) return;
    Field field = root.object("activation_checkpointing");
    take_setting(field, "partition_activations", import.object, "partition_activations");
    // Only what is recomputed is kept in parts: the script that this goes with checkpoints its layers.
    if (is_on(field, "partition_activations"))
        import.object.set("recompute", "full", field.origin("partition_activations"));
    if (is_on(field, "cpu_checkpointing"))
        refuse_key(import, field, "cpu_checkpointing", "weft keeps checkpoints on the device");
    if (is_on(field, "synchronize_checkpoint_boundary"))
        take_flag(field, "synchronize_checkpoint_boundary", import.object.object("deepspeed"),
                  "synchronize_each_layer");
    without_effect(import, field,
                   {"contiguous_memory_optimization", "cpu_checkpointing", "number_checkpoints", "profile",
                    "synchronize_checkpoint_boundary"});
    note_rest(import, field);
}

void read_rest(Import& import, Field& root) {
    if (root.has("comms_logger")) {
        Field logger = root.object("comms_logger");
        if (is_on(logger, "enabled"))
            import.object.object("deepspeed").set("log_calls", true, logger.origin("enabled"));
        without_effect(import, logger, {"enabled", "verbose", "prof_all", "debug", "prof_ops"});
        note_rest(import, logger);
    }
    if (is_on(root, "wall_clock_breakdown"))
        warn_key(import, root, "wall_clock_breakdown", "its synchronisations of host and device are not simulated");
    if (root.has("communication_data_type") && root.text("communication_data_type", "") != "auto")
        warn_key(import, root, "communication_data_type", "gradients travel as the framework keeps them");
    for (const std::string_view key : {"tensor_parallel", "pipeline", "sparse_attention", "compression_training",
                                       "hybrid_engine", "data_efficiency", "elasticity"}) {
        warn_key(import, root, key, "is not taken over");
    }
    without_effect(import, root,
                   {"steps_per_print",
                    "gradient_clipping",
                    "scheduler",
                    "optimizer",
                    "wall_clock_breakdown",
                    "dump_state",
                    "memory_breakdown",
                    "prescale_gradients",
                    "gradient_predivide_factor",
                    "zero_allow_untested_optimizer",
                    "tensorboard",
                    "wandb",
                    "csv_monitor",
                    "flops_profiler",
                    "checkpoint",
                    "zero_force_ds_cpu_optimizer",
                    "data_types",
                    "seed",
                    "disable_allgather",
                    "sparse_gradients",
                    "fp32_allreduce",
                    "autotuning",
                    "monitor_config",
                    "amp"});
    note_rest(import, root);
}

Import read(std::span<const SourceFile> files, const FormatOptions& options) {
    if (files.size() > 1) {
        throw ConfigError({Diagnostic{.file = files[1].path, .key = {}, .message = "DeepSpeed reads one file"}});
    }
    Document document = Document::parse(files.front().path, files.front().text);
    Field root = document.root();
    Import import;
    import.object.set("framework", "deepspeed", {.file = files.front().path, .line = 0, .key = {}});
    read_precision(import, root);
    Batch(import, root, options).read();
    read_zero(import, root, options);
    read_checkpointing(import, root);
    read_rest(import, root);
    document.check();
    return import;
}

}  // namespace

extern const Format deepspeed;
const Format deepspeed{"deepspeed", "DeepSpeed configuration", recognises, read};

}  // namespace weft::formats
