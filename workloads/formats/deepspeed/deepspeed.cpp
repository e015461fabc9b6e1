// A DeepSpeed configuration (ds_config.json): batch, precision and ZeRO of a job. The model and the layout are the
// script's that it goes with, so they are the user's to say. Keys and defaults: microsoft/DeepSpeed runtime/config.py,
// runtime/constants.py, runtime/activation_checkpointing/config.py.
#include <fmt/format.h>

#include <string>

#include "workloads/formats/deepspeed/keys.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/known_keys.hpp"
#include "workloads/formats/neox/files.hpp"

namespace weft::formats {
namespace {

bool recognises(const SourceFile& file) {
    if (file.text.find_first_not_of(" \t\r\n") != file.text.find('{') || is_neox(file.text)) return false;  // JSON
    for (const std::string_view key : {"\"zero_optimization\"", "\"train_micro_batch_size_per_gpu\"",
                                       "\"train_batch_size\"", "\"zero_allow_untested_optimizer\""}) {
        if (file.text.find(key) != std::string::npos) return true;
    }
    return false;
}

// DeepSpeed's own default is fp32; Hugging Face's "auto" follows the Trainer, which is given elsewhere.
void read_precision(Import& import, Field& root, const FormatOptions& options) {
    const bool left_open = read_half_precision(import, root);
    if (import.object.has("precision") || overridden_by_user(options, "precision")) return;
    if (left_open) {
        import.object.set("precision", "bf16", {.file = {}, .line = 0, .key = "assumed"});
        import.note(FormatNote::Severity::warning, root.origin(root.has("bf16") ? "bf16" : "fp16"),
                    "the Trainer says it; bf16 is assumed, --set precision=fp16 or fp32 says another");
    } else {
        import.object.set("precision", "fp32", {.file = {}, .line = 0, .key = "DeepSpeed's default"});
    }
}

void read_checkpointing(Import& import, Field& root) {
    if (!root.has("activation_checkpointing")) return;
    Field field = root.object("activation_checkpointing");
    if (says(field, "partition_activations")) {
        take_flag(field, "partition_activations", import.object.object("deepspeed"), "partition_activations");
        // Only what is recomputed is kept in parts: the script that this goes with checkpoints its layers.
        if (is_on(field, "partition_activations"))
            import.object.set("recompute", "full", field.origin("partition_activations"));
    }
    if (is_on(field, "cpu_checkpointing"))
        refuse_key(import, field, "cpu_checkpointing", "weft keeps checkpoints on the device");
    if (is_on(field, "synchronize_checkpoint_boundary"))
        take_flag(field, "synchronize_checkpoint_boundary", import.object.object("deepspeed"),
                  "synchronize_each_layer");
    pass_over(import, field, known_keys("deepspeed", "activation_checkpointing"));
    note_rest(import, field);
}

// What the script that this goes with says.
void tell_assumed(Import& import, const FormatOptions& options) {
    const auto assume = [&](std::string_view key, std::string_view value, std::string_view what) {
        if (overridden_by_user(options, key)) return;
        import.note(FormatNote::Severity::note, {.file = {}, .line = 0, .key = std::string(key)},
                    fmt::format("the script says it; {} is assumed, --set {}={} says another", value, key, what));
    };
    assume("batch.sequence", "2048", "N");
    if (!import.object.has("recompute")) assume("recompute", "none", "full");
}

void read_rest(Import& import, Field& root) {
    read_deepspeed_rest(import, root);
    for (const std::string_view key : {"tensor_parallel", "pipeline"}) warn_key(import, root, key, "is not taken over");
    pass_over(import, root, known_keys("deepspeed", "own"));
    root.has("weft");  // as `weft export` adds it: among the options
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
    read_precision(import, root, options);
    read_deepspeed_batch(import, root, options, static_cast<double>(ranks_of(options)));
    read_zero_optimization(import, root, DeepSpeedEngine::plain);
    read_checkpointing(import, root);
    read_rest(import, root);
    tell_assumed(import, options);
    take_mistakes(import, document);
    return import;
}

}  // namespace

extern const Format deepspeed;
const Format deepspeed{"deepspeed", "DeepSpeed configuration", recognises, read};

}  // namespace weft::formats
