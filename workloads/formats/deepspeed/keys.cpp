#include "workloads/formats/deepspeed/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "workloads/formats/keys.hpp"
#include "workloads/formats/known_keys.hpp"

namespace weft {
namespace {

using Severity = FormatNote::Severity;

Origin rule(std::string formula) { return {.file = {}, .line = 0, .key = std::move(formula)}; }

void take_size(Field& from, std::string_view key, Draft& to, std::string_view name) {
    if (says(from, key)) to.set(name, deepspeed_size(from, key), from.origin(key));
}

class BatchReader {
  public:
    BatchReader(Import& import, Field& root, const FormatOptions& options, double ranks, std::string_view steps)
        : import_(import), root_(root), options_(options), ranks_(ranks), steps_(steps) {}

    void read() {
        const double micro = value("train_micro_batch_size_per_gpu"), steps = value(steps_),
                     whole = value("train_batch_size");
        Draft& batch = import_.object.object("batch");
        if (micro > 0) {
            batch.set("micro", micro, root_.origin("train_micro_batch_size_per_gpu"));
        } else if (whole > 0 && ranks_ > 0) {
            batch.set("micro", whole / (ranks_ * (steps > 0 ? steps : 1)),
                      rule("train_batch_size / accumulation steps / data ranks"));
        } else if (!overridden_by_user(options_, "batch.micro")) {
            ask("batch.micro", "sequences per micro-batch");
        }
        const double all = micro * (steps > 0 ? steps : 1) * ranks_;
        if (whole > 0) {
            batch.set("global", whole, root_.origin("train_batch_size"));
            if (steps > 0 && all > 0 && all != whole) {
                warn_key(import_, root_, steps_,
                         fmt::format("train_batch_size {:g} is kept; micro-batch {:g} x {:g} steps x {:g} data ranks "
                                     "would be {:g}, and DeepSpeed stops where they differ",
                                     whole, micro, steps, ranks_, all));
            }
        } else if (all > 0) {
            batch.set("global", all, rule("micro-batch x accumulation steps x data ranks"));
            import_.note(Severity::note, root_.origin(steps_),
                         fmt::format("batch.global is {:g}: micro-batch {:g} x {:g} accumulation steps x {:g} data "
                                     "ranks",
                                     all, micro, steps > 0 ? steps : 1, ranks_));
        } else if (!overridden_by_user(options_, "batch.global")) {
            ask("batch.global", "sequences per step");
        }
    }

  private:
    double value(std::string_view key) {
        const double size = deepspeed_size(root_, key);
        if (says(root_, key) && !(size >= 1)) root_.error(key, fmt::format("expected at least 1, got {:g}", size));
        return size;
    }
    void ask(std::string_view key, std::string_view what) {
        import_.note(Severity::error, rule(std::string(key)),
                     fmt::format("the input does not say it; give --set {}=N ({}){}", key, what,
                                 ranks_ > 0 ? "" : ", or --machine and --nodes where it follows from them"));
    }

    Import& import_;
    Field& root_;
    const FormatOptions& options_;
    double ranks_;
    std::string_view steps_;
};

void read_offload(Import& import, Field& zero, std::string_view key) {
    if (!zero.has(key)) return;
    const std::string device = zero.is_object(key) ? zero.object(key).text("device", "none") : "";
    if (device == "none") {
        import.without_effect.push_back(zero.origin(key));
    } else if (device != "cpu" && device != "nvme") {
        refuse_key(import, zero, key, "expected a device none, cpu or nvme");
    } else if (const char* place = device == "cpu" ? "host" : "nvme"; key == "offload_optimizer") {
        import.object.object("optimizer").set("states", place, zero.origin(key));
    } else {
        import.object.object("deepspeed").set("offload_parameters", place, zero.origin(key));
    }
}

// Whatever the stage: what weft cannot do, and what only the loading and saving of weights reads.
void read_any_stage(Import& import, Field& zero) {
    for (const std::string_view key : {"offload_param", "offload_optimizer"}) read_offload(import, zero, key);
    if (is_on(zero, "cpu_offload")) import.object.object("optimizer").set("states", "host", zero.origin("cpu_offload"));
    if (is_on(zero, "cpu_offload_params"))
        import.object.object("deepspeed").set("offload_parameters", "host", zero.origin("cpu_offload_params"));
    if (zero.is_number("mics_shard_size") && zero.number("mics_shard_size") > 0)
        refuse_key(import, zero, "mics_shard_size", "weft has no MiCS groups of DeepSpeed");
    zero.has("mics_shard_size");
}

void read_stage3(Field& zero, Draft& settings) {
    for (const auto& [key, name] : {std::pair{"stage3_prefetch_bucket_size", "prefetch_elements"},
                                    {"stage3_param_persistence_threshold", "persistence_elements"},
                                    {"stage3_max_live_parameters", "max_live_elements"},
                                    {"stage3_max_reuse_distance", "max_reuse_elements"},
                                    {"sub_group_size", "sub_group_elements"}})
        take_size(zero, key, settings, name);
    for (const std::string key : {"quantized_weights", "quantized_gradients"}) {
        if (says(zero, "zero_" + key)) take_flag(zero, "zero_" + key, settings, key);
    }
    if (says(zero, "zero_hpz_partition_size") && zero.count("zero_hpz_partition_size") > 1)
        take_count(zero, "zero_hpz_partition_size", settings, "hierarchical_ranks");
}

void read_gradients(Field& zero, std::uint32_t stage, Draft& job, DeepSpeedEngine engine) {
    take_size(zero, "reduce_bucket_size", job, "bucket_elements");
    if (says(zero, "reduce_scatter")) take_flag(zero, "reduce_scatter", job.object("deepspeed"), "reduce_scatter");
    const bool by_owner = stage < 3 && (!zero.has("reduce_scatter") || is_on(zero, "reduce_scatter"));
    if (by_owner && says(zero, "use_multi_rank_bucket_allreduce"))
        take_flag(zero, "use_multi_rank_bucket_allreduce", job.object("deepspeed"), "multi_rank_allreduce");
    if (engine == DeepSpeedEngine::pipeline) {
        job.set("overlap_gradients", false, rule("the pipeline engine reduces after the last backward pass"));
    } else if (says(zero, "overlap_comm")) {
        take_flag(zero, "overlap_comm", job, "overlap_gradients");
    } else {  // runtime/zero/config.py, overlap_comm_valid
        job.set("overlap_gradients", stage == 3, rule("overlap_comm, DeepSpeed's default"));
    }
}

std::string in_small_letters(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

void read_optimizer(Import& import, Field& root) {
    if (!root.is_object("optimizer")) return;
    Field optimizer = root.object("optimizer");
    if (!optimizer.is_text("type")) return;
    const std::string type = in_small_letters(optimizer.text("type"));
    if (type.starts_with("onebit") || type.starts_with("zeroone")) {
        refuse_key(import, optimizer, "type", "weft has none of DeepSpeed's optimizers with compressed communication");
    } else if (type.starts_with("cpu")) {
        import.object.object("optimizer").set("states", "host", optimizer.origin("type"));
    } else if (type.find("adam") == std::string::npos && type != "lamb") {
        warn_key(import, optimizer, "type", "time and memory of the update are those of Adam");
    }
}

}  // namespace

bool says(Field& field, std::string_view key) {
    return field.has(key) && !(field.is_text(key) && field.text(key) == "auto");
}

bool is_on(Field& field, std::string_view key) { return field.is_flag(key) && field.flag(key); }

double deepspeed_size(Field& field, std::string_view key) {
    if (!says(field, key)) return 0;
    if (!field.is_text(key)) return field.number(key);
    Document word = Document::parse("--set", "{}");
    word.assign("size=" + field.text(key));
    if (word.root().is_number("size")) return word.root().number("size");
    field.error(key, "expected a number or \"auto\", got \"" + field.text(key) + "\"");
    return 1;
}

void read_deepspeed_batch(Import& import, Field& root, const FormatOptions& options, double ranks,
                          std::string_view steps) {
    BatchReader(import, root, options, ranks, steps).read();
}

bool read_half_precision(Import& import, Field& root) {
    bool left_open = false;
    for (const std::string_view name : {"fp16", "bf16", "bfloat16"}) {
        if (!root.has(name)) continue;
        Field field = root.object(name);
        left_open = left_open || (field.has("enabled") && !says(field, "enabled"));
        if (says(field, "enabled") && field.flag("enabled"))
            import.object.set("precision", name == "fp16" ? "fp16" : "bf16", field.origin("enabled"));
        without_effect(import, field,
                       {"enabled", "loss_scale", "initial_scale_power", "loss_scale_window", "hysteresis",
                        "consecutive_hysteresis", "min_loss_scale", "auto_cast", "immediate_grad_update",
                        "check_grad_overflow", "fp16", "type"});
        note_rest(import, field);
    }
    return left_open;
}

void read_zero_optimization(Import& import, Field& root, DeepSpeedEngine engine) {
    if (!root.has("zero_optimization")) return;
    Draft& job = import.object;
    if (root.is_flag("zero_optimization")) {  // as in its first versions: stage 1 or none
        job.set("zero", root.flag("zero_optimization") ? 1 : 0, root.origin("zero_optimization"));
        return;
    }
    Field zero = root.object("zero_optimization");
    const std::uint32_t stage = says(zero, "stage") ? zero.whole("stage") : 0;
    if (zero.has("stage")) job.set("zero", stage, zero.origin("stage"));
    if (stage >= 2 && engine == DeepSpeedEngine::pipeline) {
        refuse_key(import, zero, "stage",
                   fmt::format("DeepSpeed's pipeline engine, which runs the model, refuses stage {}", stage));
    }
    if (stage > 0) read_gradients(zero, stage, job, engine);
    if (stage == 3) read_stage3(zero, job.object("deepspeed"));
    if (job.object("deepspeed").empty()) job.erase("deepspeed");
    read_any_stage(import, zero);
    pass_over(import, zero, known_keys("deepspeed", "zero_optimization"));
    note_rest(import, zero);
}

void read_deepspeed_rest(Import& import, Field& root) {
    read_optimizer(import, root);
    if (root.is_object("comms_logger")) {
        Field logger = root.object("comms_logger");
        if (is_on(logger, "enabled"))
            import.object.object("deepspeed").set("log_calls", true, logger.origin("enabled"));
        pass_over(import, logger, known_keys("deepspeed", "comms_logger"));
        note_rest(import, logger);
    }
    if (is_on(root, "wall_clock_breakdown")) {
        take_flag(root, "wall_clock_breakdown", import.object.object("deepspeed"), "wall_clock_breakdown");
    } else if (root.has("wall_clock_breakdown")) {
        import.without_effect.push_back(root.origin("wall_clock_breakdown"));
    }
    if (says(root, "communication_data_type"))
        warn_key(import, root, "communication_data_type", "gradients travel as the framework keeps them");
    if (is_on(root, "fp32_allreduce"))
        warn_key(import, root, "fp32_allreduce", "gradients travel as the framework keeps them, not in fp32");
    if (root.is_object("data_types") && root.object("data_types").has("grad_accum_dtype"))
        warn_key(import, root, "data_types", "gradients are added up as the framework does by itself");
    for (const std::string_view key : {"compression_training", "data_efficiency", "elasticity", "curriculum_learning",
                                       "sparse_attention", "hybrid_engine"}) {
        warn_key(import, root, key, "is not taken over");
    }
    pass_over(import, root, known_keys("deepspeed", "any"));
}

}  // namespace weft
