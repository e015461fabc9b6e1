// A DeepSpeed configuration (ds_config.json): batch, precision and ZeRO of a job. The model and the layout are the
// script's that it goes with, so they are the user's to say. Keys and defaults: microsoft/DeepSpeed runtime/config.py,
// runtime/constants.py, runtime/activation_checkpointing/config.py.
#include <fmt/format.h>

#include <string>

#include "workloads/formats/deepspeed/keys.hpp"
#include "workloads/formats/keys.hpp"

namespace weft {
namespace {

// A size, which is often written as a text ("5e8"); 0 where nothing is said.
double deepspeed_size(Field& field, std::string_view key) {
    if (!says(field, key)) return 0;
    if (!field.is_text(key)) return field.number(key);
    Document word = Document::parse("--set", "{}");
    word.assign("size=" + field.text(key));
    if (word.root().is_number("size")) return word.root().number("size");
    field.error(key, "expected a number or \"auto\", got \"" + field.text(key) + "\"");
    return 1;
}

void take_size(ForeignKeys& in, std::string_view key, std::string_view path) {
    if (says(in.keys, key)) in.put(path, deepspeed_size(in.keys, key), key);
}

void read_offload(ForeignKeys& zero, std::string_view key, std::string_view path) {
    if (!zero.has(key)) return;
    const std::string device = zero.keys.is_object(key) ? zero.keys.object(key).text("device", "none") : "";
    if (device == "none") {
        zero.import.without_effect.push_back(zero.origin(key));
    } else if (device != "cpu" && device != "nvme") {
        zero.refuse(key, "expected a device none, cpu or nvme");
    } else {
        zero.put(path, device == "cpu" ? "host" : "nvme", key);
    }
}

// Whatever the stage: what weft cannot do, and what only the loading and saving of weights reads.
void read_any_stage(ForeignKeys& zero) {
    read_offload(zero, "offload_param", "deepspeed.offload_parameters");
    read_offload(zero, "offload_optimizer", "optimizer.states");
    if (zero.on("cpu_offload")) zero.put("optimizer.states", "host", "cpu_offload");
    if (zero.on("cpu_offload_params")) zero.put("deepspeed.offload_parameters", "host", "cpu_offload_params");
    if (zero.keys.is_number("mics_shard_size") && zero.keys.number("mics_shard_size") > 0)
        zero.refuse("mics_shard_size", "weft has no MiCS groups of DeepSpeed");
    zero.has("mics_shard_size");
}

void read_stage3(ForeignKeys& zero) {
    take_size(zero, "stage3_prefetch_bucket_size", "deepspeed.prefetch_elements");
    take_size(zero, "stage3_param_persistence_threshold", "deepspeed.persistence_elements");
    take_size(zero, "stage3_max_live_parameters", "deepspeed.max_live_elements");
    take_size(zero, "stage3_max_reuse_distance", "deepspeed.max_reuse_elements");
    take_size(zero, "sub_group_size", "deepspeed.sub_group_elements");
    for (const std::string key : {"quantized_weights", "quantized_gradients"}) {
        if (says(zero.keys, "zero_" + key)) zero.take_flag("zero_" + key, "deepspeed." + key);
    }
    if (says(zero.keys, "zero_hpz_partition_size") && zero.keys.count("zero_hpz_partition_size") > 1)
        zero.take_count("zero_hpz_partition_size", "deepspeed.hierarchical_ranks");
}

void read_gradients(ForeignKeys& zero, std::uint32_t stage, DeepSpeedEngine engine) {
    take_size(zero, "reduce_bucket_size", "bucket_elements");
    if (says(zero.keys, "reduce_scatter")) zero.take_flag("reduce_scatter", "deepspeed.reduce_scatter");
    const bool by_owner = stage < 3 && (!zero.has("reduce_scatter") || zero.on("reduce_scatter"));
    if (by_owner && says(zero.keys, "use_multi_rank_bucket_allreduce"))
        zero.take_flag("use_multi_rank_bucket_allreduce", "deepspeed.multi_rank_allreduce");
    if (engine == DeepSpeedEngine::pipeline) {
        zero.import.put("overlap_gradients", false,
                        unwritten("the pipeline engine reduces after the last backward pass"));
    } else if (says(zero.keys, "overlap_comm")) {
        zero.take_flag("overlap_comm", "overlap_gradients");
    } else {  // runtime/zero/config.py, overlap_comm_valid
        zero.import.put("overlap_gradients", stage == 3, unwritten("overlap_comm, DeepSpeed's default"));
    }
}

void read_optimizer(ForeignKeys optimizer) {
    if (!optimizer.keys.is_text("type")) return;
    const std::string type = lower_case(optimizer.keys.text("type"));
    if (type.starts_with("onebit") || type.starts_with("zeroone")) {
        optimizer.refuse("type", "weft has none of DeepSpeed's optimizers with compressed communication");
    } else if (type.starts_with("cpu")) {
        optimizer.put("optimizer.states", "host", "type");
    } else if (!contains(type, "adam") && type != "lamb") {
        optimizer.warn("type", "time and memory of the update are those of Adam");
    }
}

bool is_deepspeed_file(const SourceFile& file) {
    if (file.text.find_first_not_of(" \t\r\n") != file.text.find('{') || is_neox(file.text)) return false;  // JSON
    for (const std::string_view key : {"\"zero_optimization\"", "\"train_micro_batch_size_per_gpu\"",
                                       "\"train_batch_size\"", "\"zero_allow_untested_optimizer\""}) {
        if (file.text.find(key) != std::string::npos) return true;
    }
    return false;
}

// DeepSpeed's own default is fp32; Hugging Face's "auto" follows the Trainer, which is given elsewhere.
void read_precision(ForeignKeys& in) {
    const bool left_open = read_half_precision(in);
    if (in.import.object.has("precision") || overridden_by_user(in.options, "precision")) return;
    in.import.put("precision", left_open ? "bf16" : "fp32", unwritten(left_open ? "assumed" : "DeepSpeed's default"));
    if (left_open)
        in.warn(in.has("bf16") ? "bf16" : "fp16",
                "the Trainer says it; bf16 is assumed, --set precision=fp16 or fp32 says another");
}

void read_checkpointing(ForeignKeys& root) {
    if (!root.has("activation_checkpointing")) return;
    ForeignKeys in = root.object("activation_checkpointing");
    if (says(in.keys, "partition_activations")) {
        in.take_flag("partition_activations", "deepspeed.partition_activations");
        // Only what is recomputed is kept in parts: the script that this goes with checkpoints its layers.
        if (in.on("partition_activations") && !in.import.object.has("recompute"))
            in.put("recompute", "full", "partition_activations");
    }
    if (in.on("cpu_checkpointing")) in.refuse("cpu_checkpointing", "weft keeps checkpoints on the device");
    if (in.on("synchronize_checkpoint_boundary"))
        in.take_flag("synchronize_checkpoint_boundary", "deepspeed.synchronize_each_layer");
    in.pass_over(known_keys("deepspeed", "activation_checkpointing"));
    in.note_rest();
}

// What the script that this goes with says.
void tell_assumed(ForeignKeys& in) {
    const auto assume = [&](std::string_view key, std::string_view value, std::string_view what) {
        if (overridden_by_user(in.options, key)) return;
        in.import.note(unwritten(std::string(key)), "the script says it; {} is assumed, --set {}={} says another",
                       value, key, what);
    };
    assume("batch.sequence", "2048", "N");
    if (!in.import.object.has("recompute")) assume("recompute", "none", "full");
}

void read_rest(ForeignKeys& in) {
    read_deepspeed_rest(in);
    for (const std::string_view key : {"tensor_parallel", "pipeline"}) in.warn(key, "is not taken over");
    in.pass_over(known_keys("deepspeed", "own"));
    in.has("weft");  // as `weft export` adds it: among the options
    in.note_rest();
}

Import read_deepspeed_files(std::span<const SourceFile> files, const FormatOptions& options) {
    if (files.size() > 1) refuse_file(files[1].path, "DeepSpeed reads one file");
    Document document = Document::parse(files.front().path, files.front().text);
    Import import;
    import.put("framework", "deepspeed", in_file(files.front().path));
    ForeignKeys in{import, document.root(), options};
    read_precision(in);
    read_deepspeed_batch(in, static_cast<double>(ranks_of(options)));
    read_zero_optimization(in, DeepSpeedEngine::plain);
    read_checkpointing(in);
    read_rest(in);
    tell_assumed(in);
    take_mistakes(import, document);
    return import;
}

}  // namespace

bool says(Field& field, std::string_view key) {
    return field.has(key) && !(field.is_text(key) && field.text(key) == "auto");
}

void read_deepspeed_batch(ForeignKeys& in, double ranks, std::string_view steps_key) {
    constexpr std::string_view micro_key = "train_micro_batch_size_per_gpu", whole_key = "train_batch_size";
    // Of a key that leaves it open, what the user says of `path`.
    const auto value = [&in](std::string_view key, std::string_view path = {}) {
        if (!says(in.keys, key)) return number_said(in.options, path);
        const double size = deepspeed_size(in.keys, key);
        if (!(size >= 1)) in.keys.error(key, "expected at least 1, got {:g}", size);
        return size;
    };
    const auto ask = [&](std::string_view key, std::string_view what) {
        if (overridden_by_user(in.options, key)) return;
        in.import.error(unwritten(std::string(key)), "the input does not say it; give --set {}=N ({}){}", key, what,
                        ranks > 0 ? "" : ", or --machine and --nodes where it follows from them");
    };
    const double micro = value(micro_key, "batch.micro"), said = value(steps_key), whole = value(whole_key);
    const double steps = said > 0 ? said : 1, all = micro * steps * ranks;
    in.import.object.object("batch");
    if (micro > 0) {
        in.put("batch.micro", micro, micro_key);
    } else if (whole > 0 && ranks > 0) {
        in.import.put("batch.micro", whole / (ranks * steps),
                      unwritten("train_batch_size / accumulation steps / data ranks"));
    } else {
        ask("batch.micro", "sequences per micro-batch");
    }
    if (whole > 0) {
        in.put("batch.global", whole, whole_key);
        if (said > 0 && all > 0 && all != whole)
            in.warn(steps_key,
                    fmt::format("train_batch_size {:g} is kept; micro-batch {:g} x {:g} steps x {:g} data ranks "
                                "would be {:g}, and DeepSpeed stops where they differ",
                                whole, micro, steps, ranks, all));
    } else if (all > 0) {
        in.import.put("batch.global", all, unwritten("micro-batch x accumulation steps x data ranks"));
        in.import.note(in.origin(steps_key),
                       "batch.global is {:g}: micro-batch {:g} x {:g} accumulation steps x {:g} data ranks", all, micro,
                       steps, ranks);
    } else {
        ask("batch.global", "sequences per step");
    }
}

bool read_half_precision(ForeignKeys& in) {
    bool left_open = false;
    for (const std::string_view name : {"fp16", "bf16", "bfloat16"}) {
        if (!in.has(name)) continue;
        ForeignKeys section = in.object(name);
        left_open = left_open || (section.has("enabled") && !says(section.keys, "enabled"));
        if (says(section.keys, "enabled") && section.keys.flag("enabled"))
            section.put("precision", name == "fp16" ? "fp16" : "bf16", "enabled");
        section.pass_over(known_keys("deepspeed", "half_precision"));
        section.note_rest();
    }
    return left_open;
}

void read_zero_optimization(ForeignKeys& in, DeepSpeedEngine engine) {
    constexpr std::string_view key = "zero_optimization";
    if (!in.has(key)) return;
    // A flag in its first versions: stage 1 or none.
    if (in.keys.is_flag(key)) return in.put("zero", in.on(key) ? 1 : 0, key);
    ForeignKeys zero = in.object(key);
    const std::uint32_t stage = says(zero.keys, "stage") ? zero.keys.whole("stage") : 0;
    if (zero.has("stage")) zero.put("zero", stage, "stage");
    if (stage >= 2 && engine == DeepSpeedEngine::pipeline) {
        zero.refuse("stage", fmt::format("DeepSpeed's pipeline engine, which runs the model, refuses stage {}", stage));
    }
    if (stage > 0) read_gradients(zero, stage, engine);
    if (stage == 3) read_stage3(zero);
    read_any_stage(zero);
    zero.pass_over(known_keys("deepspeed", key));
    zero.note_rest();
}

void read_deepspeed_rest(ForeignKeys& in) {
    if (in.keys.is_object("optimizer")) read_optimizer(in.object("optimizer"));
    if (in.keys.is_object("comms_logger")) {
        ForeignKeys logger = in.object("comms_logger");
        if (logger.on("enabled")) logger.put("deepspeed.log_calls", true, "enabled");
        logger.pass_over(known_keys("deepspeed", "comms_logger"));
        logger.note_rest();
    }
    if (in.on("wall_clock_breakdown")) {
        in.put("deepspeed.wall_clock_breakdown", true, "wall_clock_breakdown");
    } else if (in.has("wall_clock_breakdown")) {
        in.import.without_effect.push_back(in.origin("wall_clock_breakdown"));
    }
    if (says(in.keys, "communication_data_type"))
        in.warn("communication_data_type", "gradients travel as the framework keeps them");
    if (in.keys.is_object("data_types") && in.keys.object("data_types").has("grad_accum_dtype"))
        in.warn("data_types", "gradients are added up as the framework does by itself");
    in.warn(known_keys("deepspeed", "warned"));
    in.pass_over(known_keys("deepspeed", "any"));
}

namespace formats {

extern const Format deepspeed{"deepspeed", "DeepSpeed configuration", is_deepspeed_file, read_deepspeed_files};

}  // namespace formats

void read_deepspeed_of_launch(const SourceFile& file, Import& import, const FormatOptions& options,
                              DeepSpeedEngine engine) {
    Document document = Document::parse(file.path, file.text);
    ForeignKeys in{import, document.root(), options};
    read_half_precision(in);
    read_zero_optimization(in, engine);
    read_checkpointing(in);
    for (const std::string_view key :
         {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"})
        in.has(key);  // as the launch says, or DeepSpeed stops
    read_rest(in);
    take_mistakes(import, document);
}

}  // namespace weft
