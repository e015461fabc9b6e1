// A GPT-NeoX run: YAML files of model, training and site, put together as one job under DeepSpeed. Keys and defaults:
// EleutherAI/gpt-neox configs/neox_arguments.md, megatron/neox_arguments/arguments.py (calculate_derived).
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "topologies/machine.hpp"
#include "workloads/formats/deepspeed/keys.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/known_keys.hpp"
#include "workloads/formats/neox/files.hpp"
#include "workloads/formats/neox/model.hpp"

namespace weft::formats {
namespace {

using Severity = FormatNote::Severity;

bool recognises(const SourceFile& file) { return is_neox(file.text); }

Origin neox_default(std::string what) { return {.file = {}, .line = 0, .key = "GPT-NeoX's default" + std::move(what)}; }

// The key "precision" or one of DeepSpeed's sections; fp32 where nothing is said.
std::string read_neox_precision(Import& import, Field& root) {
    read_half_precision(import, root);
    if (root.is_object("deepspeed_extra_args")) {
        Field extra = root.object("deepspeed_extra_args");
        read_half_precision(import, extra);
        read_deepspeed_rest(import, extra);
        note_rest(import, extra);
    }
    const auto enabled = [&](std::string_view section) {
        if (!root.is_object(section)) return false;
        Field field = root.object(section);
        return is_on(field, "enabled");
    };
    std::string name = enabled("fp16") ? "fp16" : import.object.has("precision") ? "bf16" : "fp32";
    if (root.has("precision")) {
        const std::string said = root.choice("precision", {"fp16", "fp32", "bfloat16"});
        const std::string own = said == "bfloat16" ? "bf16" : said;
        if (import.object.has("precision") && own != name)
            root.error("precision", fmt::format("is {}, but DeepSpeed's section {} is enabled", said, name));
        name = own;
        import.object.set("precision", name, root.origin("precision"));
    } else if (!import.object.has("precision")) {
        import.object.set("precision", name, neox_default(""));
    }
    return name;
}

DeepSpeedEngine engine_of(Field& root) {  // training.py, setup_model_and_optimizer: 0 is a plain model
    return root.whole("pipe_parallel_size", 0) >= 1 ? DeepSpeedEngine::pipeline : DeepSpeedEngine::plain;
}

void read_layout(Import& import, Field& root) {
    Draft& layout = import.object.object("layout");
    if (root.has("model_parallel_size")) {
        layout.set("tensor", std::max(root.whole("model_parallel_size"), 1U), root.origin("model_parallel_size"));
    }
    if (root.has("pipe_parallel_size")) {
        layout.set("pipeline", std::max(root.whole("pipe_parallel_size"), 1U), root.origin("pipe_parallel_size"));
    }
    if (root.has("pipe_partition_method") && root.text("pipe_partition_method") != "type:transformer|mlp") {
        const std::string method = root.text("pipe_partition_method");
        warn_key(import, root, "pipe_partition_method",
                 "layers are dealt to stages as by \"type:transformer|mlp\", GPT-NeoX's default");
    }
    for (const std::string_view key : {"context_parallel_size", "ring_attention_size"}) {
        if (root.has(key) && root.count(key) > 1)
            refuse_key(import, root, key, "weft has no ring attention of GPT-NeoX; its DeepSpeed has all-to-all");
    }
    if (is_on(root, "sequence_parallel"))
        refuse_key(import, root, "sequence_parallel", "weft has no sequence parallelism of GPT-NeoX on DeepSpeed");
    if (layout.empty()) import.object.erase("layout");
}

// All ranks of the job, by what the user says or else by the files; 0 where neither does.
double ranks_said(Import& import, Field& root, const FormatOptions& options, double model_ranks) {
    if (options.nodes > 0) return static_cast<double>(ranks_of(options));
    const auto positive = [&](std::string_view key) { return root.has(key) && root.number(key) >= 1; };  // -1: all
    const bool nodes = positive("num_nodes");
    if (nodes) take_count(root, "num_nodes", import.object, "nodes");
    if (positive("global_num_gpus") || (nodes && positive("num_gpus"))) {
        const std::string_view key = positive("global_num_gpus") ? "global_num_gpus" : "num_gpus";
        const double ranks = root.number(key) * (key == "num_gpus" ? root.number("num_nodes") : 1);
        import.object.object("layout").set("data", ranks / model_ranks, root.origin(key));
        return ranks;
    }
    FormatOptions complete = options;
    if (nodes) complete.nodes = root.count("num_nodes");
    return static_cast<double>(ranks_of(complete));
}

// calculate_derived(): the ranks that are left for data share the batch.
void read_batch(Import& import, Field& root, const FormatOptions& options) {
    const double model_ranks = double(std::max(root.whole("model_parallel_size", 1), 1U)) *
                               double(std::max(root.whole("pipe_parallel_size", 0), 1U));
    const double ranks = ranks_said(import, root, options, model_ranks) / model_ranks;
    if (root.has("seq_length")) {
        import.object.object("batch").set("sequence", root.count("seq_length"), root.origin("seq_length"));
    } else if (!overridden_by_user(options, "batch.sequence")) {
        import.note(Severity::warning, {.file = root.origin("num_layers").file, .line = 0, .key = "seq_length"},
                    "the input does not say it; 2048 is assumed, --set batch.sequence=N says another");
    }
    const bool old = root.has("gas") && !root.has("gradient_accumulation_steps");
    const std::string_view steps_key = old ? "gas" : "gradient_accumulation_steps";
    const bool none = !root.has("train_batch_size") && !root.has("train_micro_batch_size_per_gpu");
    if (!none || (overridden_by_user(options, "batch.micro") && overridden_by_user(options, "batch.global")))
        return read_deepspeed_batch(import, root, options, ranks, steps_key);
    const double steps = root.count(steps_key, 1);
    Draft& batch = import.object.object("batch");
    const Origin assumed{.file = {}, .line = 0, .key = "assumed: one sequence per rank and micro-batch"};
    batch.set("micro", 1, assumed);
    batch.set("global", steps * std::max(ranks, 1.0), assumed);
    import.note(Severity::warning,
                {.file = root.origin("num_layers").file, .line = 0, .key = "train_micro_batch_size_per_gpu"},
                fmt::format("the input does not say it; 1 is assumed, so batch.global is {:g}; --set batch.micro=N and "
                            "--set batch.global=N say others",
                            steps * std::max(ranks, 1.0)));
}

void read_memory_savings(Import& import, Field& root) {
    Draft& job = import.object;
    const bool recomputes = root.flag("checkpoint_activations", false);
    const std::uint32_t interval = root.whole("checkpoint_num_layers", 1);
    if (recomputes && interval > 0) {
        if (interval == 1) {
            job.set("recompute", "full", root.origin("checkpoint_activations"));
        } else {
            job.object("recompute").set("layers", interval, root.origin("checkpoint_num_layers"));
        }
        take_flag(root, "partition_activations", job.object("deepspeed"), "partition_activations");
        if (is_on(root, "checkpoint_in_cpu"))
            refuse_key(import, root, "checkpoint_in_cpu", "weft keeps checkpoints on the device");
    }
    if (is_on(root, "synchronize_each_layer"))
        take_flag(root, "synchronize_each_layer", job.object("deepspeed"), "synchronize_each_layer");
    without_effect(import, root,
                   {"contiguous_checkpointing", "deepspeed_activation_checkpointing", "profile_backward"});
    unread_without_effect(import, root, "partition_activations checkpoint_in_cpu activation_checkpointing");
}

// Without scores in memory, dropout of them costs nothing of its own.
void read_dropout(Import& import, Field& root, bool keeps_scores) {
    const bool hidden = root.number("hidden_dropout", 0.0) > 0, scores = root.number("attention_dropout", 0.0) > 0;
    if (hidden) import.object.set("dropout", true, root.origin("hidden_dropout"));
    if (!keeps_scores || hidden == scores) return;
    import.object.set("dropout", true, root.origin(hidden ? "hidden_dropout" : "attention_dropout"));
    warn_key(import, root, hidden ? "hidden_dropout" : "attention_dropout",
             "dropout is simulated on the scores and on the outputs of attention and MLP, or on neither");
}

void read_rest(Import& import, Field& root) {
    read_deepspeed_rest(import, root);
    if (is_on(root, "use_bnb_optimizer"))
        warn_key(import, root, "use_bnb_optimizer", "the optimizer's states are simulated in fp32, not in 8 bits");
    if (root.has("deepspeed") && !root.flag("deepspeed"))
        refuse_key(import, root, "deepspeed", "GPT-NeoX runs with DeepSpeed alone");
    pass_over_unread(import, root, known_keys("neox", "without_effect"));
    note_rest(import, root);
}

// GPT-NeoX stops at a key that two files have (from_ymls). Where nothing hangs on it the first is kept.
void tell_repeated(Import& import, std::span<const RepeatedKey> repeated) {
    for (const auto& [first, second] : repeated) {
        const bool harmless = std::ranges::any_of(import.without_effect, [&origin = first](const Origin& other) {
            return other.file == origin.file && other.line == origin.line && other.key == origin.key;
        });
        import.note(harmless ? Severity::warning : Severity::error, second,
                    fmt::format("{}:{} has it, too, and GPT-NeoX takes a key once{}", first.file, first.line,
                                harmless ? "; it has no effect on time and memory" : ""));
    }
}

Import read(std::span<const SourceFile> files, const FormatOptions& options) {
    NeoxFiles merged = merged_neox(files);
    Document& document = merged.document;
    Field root = document.root();
    Import import;
    import.object.set("framework", "deepspeed", {.file = files.front().path, .line = 0, .key = {}});
    const std::string precision = read_neox_precision(import, root);
    read_neox_model(import, root, options);
    const bool keeps_scores = read_neox_kernels(import, root, precision);
    read_layout(import, root);
    read_batch(import, root, options);
    read_zero_optimization(import, root, engine_of(root));
    read_memory_savings(import, root);
    read_dropout(import, root, keeps_scores);
    read_rest(import, root);
    tell_repeated(import, merged.repeated);
    take_mistakes(import, document);
    return import;
}

}  // namespace

extern const Format neox;
const Format neox{"neox", "GPT-NeoX configuration", recognises, read};

}  // namespace weft::formats
