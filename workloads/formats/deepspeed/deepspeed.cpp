// A DeepSpeed configuration (ds_config.json): batch, precision and ZeRO of a job. The model and the layout are the
// script's that it goes with, so they are the user's to say. Keys and defaults: microsoft/DeepSpeed runtime/config.py,
// runtime/constants.py, runtime/activation_checkpointing/config.py.
#include <string>

#include "workloads/formats/deepspeed/keys.hpp"
#include "workloads/formats/neox/run.hpp"

namespace weft {
namespace formats {
namespace {

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

extern const Format deepspeed{"deepspeed", "DeepSpeed configuration", is_deepspeed_file, read_deepspeed_files};

}  // namespace formats

void read_deepspeed_of_launch(const SourceFile& file, Import& import, const FormatOptions& options,
                              DeepSpeedEngine engine) {
    Document document = Document::parse(file.path, file.text);
    ForeignKeys in{import, document.root(), options};
    read_half_precision(in);
    read_zero_optimization(in, engine);
    formats::read_checkpointing(in);
    for (const std::string_view key :
         {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"})
        in.has(key);  // as the launch says, or DeepSpeed stops
    formats::read_rest(in);
    take_mistakes(import, document);
}

}  // namespace weft
