// A GPT-NeoX run: YAML files of model, training and site, put together as one job under DeepSpeed. Keys and defaults:
// EleutherAI/gpt-neox configs/neox_arguments.md, megatron/neox_arguments/arguments.py (calculate_derived).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "workloads/formats/deepspeed/keys.hpp"

namespace weft {
namespace {

std::string with_underscores(std::string_view key) {
    std::string name(key);
    std::ranges::replace(name, '-', '_');
    return name;
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// The word before a colon, without quotes; flags of other tools ("--num-layers:") are none.
std::string_view key_before(std::string_view text, std::size_t colon) {
    std::size_t end = colon;
    while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '"' || text[end - 1] == '\'')) --end;
    std::size_t begin = end;
    while (begin > 0 && is_letter(text[begin - 1])) --begin;
    const std::string_view word = text.substr(begin, end - begin);
    return word.starts_with('-') ? std::string_view() : word;
}

bool is_in_braces(std::string_view text) {
    for (std::size_t at = text.find_first_not_of(" \t\r\n"); at != std::string_view::npos;
         at = text.find_first_not_of(" \t\r\n", at)) {
        if (text[at] != '#') return text[at] == '{';
        at = std::min(text.find('\n', at), text.size());
    }
    return false;
}

bool is_neox_file(const SourceFile& file) { return is_neox(file.text); }

struct NeoxFiles {
    Document document;                                // with the first of repeated keys
    std::vector<std::pair<Origin, Origin>> repeated;  // keys that a second file has, too: in the first, there
};

// GPT-NeoX puts its files together on the command line, a model beside the paths of a site, and takes '-' in a key for
// '_' (megatron/neox_arguments/arguments.py, from_ymls). Keys come with '_', places are those of the files. Throws
// ConfigError.
NeoxFiles merged_neox(std::span<const SourceFile> files) {
    constexpr std::size_t most_keys = 4096;  // an order of magnitude beyond all that GPT-NeoX has
    Draft merged;
    std::map<std::string, Origin, std::less<>> first;
    std::vector<std::pair<Origin, Origin>> repeated;
    for (const SourceFile& file : files) {
        Document document = parse_yaml(file.path, file.text);
        Field root = document.root();
        const std::vector<std::string> keys = root.keys();
        document.check();
        if (first.size() + keys.size() > most_keys)
            refuse_file(file.path, fmt::format("has more than {} keys", most_keys));
        for (const std::string& key : keys) {
            const std::string name = with_underscores(key);
            const Origin origin = root.origin(key);
            const auto [at, is_first] = first.try_emplace(name, origin);
            if (is_first) {
                copy_member(root, key, merged, name);
            } else {
                repeated.emplace_back(at->second, origin);
            }
        }
    }
    return {merged.document(files.front().path), std::move(repeated)};
}

// The key "precision" or one of DeepSpeed's sections; fp32 where nothing is said.
std::string read_neox_precision(ForeignKeys& in) {
    read_half_precision(in);
    if (in.keys.is_object("deepspeed_extra_args")) {
        ForeignKeys extra = in.object("deepspeed_extra_args");
        read_half_precision(extra);
        read_deepspeed_rest(extra);
        extra.note_rest();
    }
    const Draft& job = in.import.object;
    const bool half = in.keys.is_object("fp16") && in.object("fp16").on("enabled");
    std::string name = half ? "fp16" : job.has("precision") ? "bf16" : "fp32";
    if (in.has("precision")) {
        const std::string said = in.keys.choice("precision", {"fp16", "fp32", "bfloat16"});
        const std::string own = said == "bfloat16" ? "bf16" : said;
        if (job.has("precision") && own != name)
            in.keys.error("precision", "is {}, but DeepSpeed's section {} is enabled", said, name);
        name = own;
        in.put("precision", name, "precision");
    } else if (!job.has("precision")) {
        in.import.put("precision", name, unwritten("GPT-NeoX's default"));
    }
    return name;
}

DeepSpeedEngine engine_of(ForeignKeys& in) {  // training.py, setup_model_and_optimizer: 0 is a plain model
    return in.keys.whole("pipe_parallel_size", 0) >= 1 ? DeepSpeedEngine::pipeline : DeepSpeedEngine::plain;
}

void read_layout(ForeignKeys& in) {
    Draft& layout = in.import.object.object("layout");
    for (const auto& [key, path] :
         {std::pair{"model_parallel_size", "layout.tensor"}, {"pipe_parallel_size", "layout.pipeline"}}) {
        if (in.has(key)) in.put(path, std::max(in.keys.whole(key), 1U), key);
    }
    if (in.has("pipe_partition_method") && in.keys.text("pipe_partition_method") != "type:transformer|mlp")
        in.warn("pipe_partition_method",
                "layers are dealt to stages as by \"type:transformer|mlp\", GPT-NeoX's default");
    for (const std::string_view key : {"context_parallel_size", "ring_attention_size"}) {
        if (in.has(key) && in.keys.count(key) > 1)
            in.refuse(key, "weft has no ring attention of GPT-NeoX; its DeepSpeed has all-to-all");
    }
    if (layout.empty()) in.import.object.erase("layout");
}

// All ranks of the job, by what the user says or else by the files; 0 where neither does.
double ranks_said(ForeignKeys& in, double model_ranks) {
    Field& root = in.keys;
    if (in.options.nodes > 0 || in.options.gpus > 0) return static_cast<double>(ranks_of(in.options));
    const auto positive = [&](std::string_view key) { return root.has(key) && root.number(key) >= 1; };  // -1: all
    const bool nodes = positive("num_nodes");
    if (nodes) in.take_count("num_nodes", "nodes");
    if (positive("global_num_gpus") || (nodes && positive("num_gpus"))) {
        const std::string_view key = positive("global_num_gpus") ? "global_num_gpus" : "num_gpus";
        const double ranks = root.number(key) * (key == "num_gpus" ? root.number("num_nodes") : 1);
        in.put("layout.data", ranks / model_ranks, key);
        return ranks;
    }
    FormatOptions complete = in.options;
    if (nodes) complete.nodes = root.count("num_nodes");
    return static_cast<double>(ranks_of(complete));
}

// calculate_derived(): the ranks that are left for data share the batch.
void read_batch(ForeignKeys& in) {
    Field& root = in.keys;
    const double model_ranks = double(std::max(root.whole("model_parallel_size", 1), 1U)) *
                               double(std::max(root.whole("pipe_parallel_size", 0), 1U));
    const double ranks = ranks_said(in, model_ranks) / model_ranks;
    if (root.has("seq_length")) {
        in.take_count("seq_length", "batch.sequence");
    } else if (!overridden_by_user(in.options, "batch.sequence")) {
        in.import.warn(in_file(root.origin("num_layers").file, "seq_length"),
                       "the input does not say it; 2048 is assumed, --set batch.sequence=N says another");
    }
    const bool old = root.has("gas") && !root.has("gradient_accumulation_steps");
    const std::string_view steps_key = old ? "gas" : "gradient_accumulation_steps";
    const bool none = !root.has("train_batch_size") && !root.has("train_micro_batch_size_per_gpu");
    if (!none || (overridden_by_user(in.options, "batch.micro") && overridden_by_user(in.options, "batch.global")))
        return read_deepspeed_batch(in, ranks, steps_key);
    const double steps = root.count(steps_key, 1);
    const Origin assumed = unwritten("assumed: one sequence per rank and micro-batch");
    in.import.put("batch.micro", 1, assumed);
    in.import.put("batch.global", steps * std::max(ranks, 1.0), assumed);
    in.import.warn(in_file(root.origin("num_layers").file, "train_micro_batch_size_per_gpu"),
                   "the input does not say it; 1 is assumed, so batch.global is {:g}; --set batch.micro=N and "
                   "--set batch.global=N say others",
                   steps * std::max(ranks, 1.0));
}

void read_memory_savings(ForeignKeys& in) {
    const bool recomputes = in.keys.flag("checkpoint_activations", false);
    const std::uint32_t interval = in.keys.whole("checkpoint_num_layers", 1);
    if (recomputes && interval > 0) {
        if (interval == 1) {
            in.put("recompute", "full", "checkpoint_activations");
        } else {
            in.put("recompute.layers", interval, "checkpoint_num_layers");
        }
        in.import.object.object("deepspeed");  // stands here
        in.take_flag("partition_activations", "deepspeed.partition_activations");
        if (in.on("checkpoint_in_cpu")) in.refuse("checkpoint_in_cpu", "weft keeps checkpoints on the device");
    }
    if (in.on("synchronize_each_layer")) in.take_flag("synchronize_each_layer", "deepspeed.synchronize_each_layer");
    in.pass_over_unread(known_keys("neox", "checkpointing"));
}

// Without scores in memory, dropout of them costs nothing of its own.
void read_dropout(ForeignKeys& in, bool keeps_scores) {
    const auto drops = [&](std::string_view key) { return in.keys.number(key, 0.0) > 0; };
    const bool hidden = drops("hidden_dropout"), scores = drops("attention_dropout");
    if (hidden) in.put("dropout", true, "hidden_dropout");
    if (!keeps_scores || hidden == scores) return;
    const std::string_view key = hidden ? "hidden_dropout" : "attention_dropout";
    in.put("dropout", true, key);
    in.warn(key, "dropout is simulated on the scores and on the outputs of attention and MLP, or on neither");
}

void read_rest(ForeignKeys& in) {
    read_deepspeed_rest(in);
    in.refuse(known_keys("neox", "refused"));
    in.warn(known_keys("neox", "warned"));
    if (in.has("deepspeed") && !in.keys.flag("deepspeed")) in.refuse("deepspeed", "GPT-NeoX runs with DeepSpeed alone");
    in.pass_over_unread(known_keys("neox", "without_effect"));
    in.note_rest();
}

// GPT-NeoX stops at a key that two files have (from_ymls). Where nothing hangs on it the first is kept.
void tell_repeated(Import& import, std::span<const std::pair<Origin, Origin>> repeated) {
    for (const auto& [first, second] : repeated) {
        const bool harmless = std::ranges::any_of(import.without_effect, [&origin = first](const Origin& other) {
            return other.file == origin.file && other.line == origin.line && other.key == origin.key;
        });
        std::string message = fmt::format("{}:{} has it, too, and GPT-NeoX takes a key once", first.file, first.line);
        if (harmless) {
            import.warn(second, message + "; it has no effect on time and memory");
        } else {
            import.error(second, std::move(message));
        }
    }
}

Import read_neox_files(std::span<const SourceFile> files, const FormatOptions& options) {
    NeoxFiles merged = merged_neox(files);
    Import import;
    ForeignKeys in{import, merged.document.root(), options};
    import.put("framework", "deepspeed", in_file(files.front().path));
    const std::string precision = read_neox_precision(in);
    read_neox_model(in);
    const bool keeps_scores = read_neox_kernels(in, precision);
    read_layout(in);
    read_batch(in);
    read_zero_optimization(in, engine_of(in));
    read_memory_savings(in);
    read_dropout(in, keeps_scores);
    read_rest(in);
    tell_repeated(import, merged.repeated);
    take_mistakes(import, merged.document);
    return import;
}

}  // namespace

bool is_neox(std::string_view text) {
    std::set<std::string> shared;
    for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
        std::string key = with_underscores(key_before(text, colon));
        if (known_keys("neox", "own").contains(key)) return true;
        if (known_keys("neox", "shared").contains(key)) shared.insert(std::move(key));
    }
    return shared.size() >= 2 && is_in_braces(text);
}

namespace formats {

extern const Format neox{"neox", "GPT-NeoX configuration", is_neox_file, read_neox_files};

}  // namespace formats
}  // namespace weft
