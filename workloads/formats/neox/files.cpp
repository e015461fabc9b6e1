#include "workloads/formats/neox/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/io/draft.hpp"
#include "sim/io/syntaxes.hpp"

namespace weft {
namespace {

// Of no other tool's files.
constexpr std::array<std::string_view, 9> own_words{"pipe_parallel_size",
                                                    "no_weight_tying",
                                                    "gpt_j_residual",
                                                    "scaled_upper_triang_masked_softmax_fusion",
                                                    "checkpoint_factor",
                                                    "output_layer_parallelism",
                                                    "train_data_paths",
                                                    "text_gen_type",
                                                    "checkpoint_validation_with_forward_pass"};
// Two of these between braces, which GPT-NeoX's YAML has around all: files of other tools,
// weft's jobs among them, have one, or no braces.
constexpr std::array<std::string_view, 18> shared_words{"model_parallel_size",
                                                        "attention_config",
                                                        "sparsity_config",
                                                        "pos_emb",
                                                        "checkpoint_activations",
                                                        "lr_decay_style",
                                                        "train_iters",
                                                        "data_path",
                                                        "vocab_file",
                                                        "merge_file",
                                                        "tensorboard_dir",
                                                        "log_dir",
                                                        "launcher",
                                                        "num_gpus",
                                                        "use_wandb",
                                                        "distributed_backend",
                                                        "memory_profiling",
                                                        "synchronize_each_layer"};

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

void copy_member(Draft& to, Field& from, std::string_view key, const std::string& name) {
    if (!from.is_object(key)) return to.set_json(name, from.member(key).as_json(), from.origin(key));
    Field inner = from.object(key);
    Draft& object = to.object(name, from.origin(key));
    for (const std::string& each : inner.keys()) copy_member(object, inner, each, each);
}

}  // namespace

bool is_neox(std::string_view text) {
    std::array<bool, shared_words.size()> found{};
    for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
        const std::string key = with_underscores(key_before(text, colon));
        if (std::ranges::find(own_words, key) != own_words.end()) return true;
        const auto shared = std::ranges::find(shared_words, key);
        if (shared != shared_words.end()) found[static_cast<std::size_t>(shared - shared_words.begin())] = true;
    }
    return std::ranges::count(found, true) >= 2 && is_in_braces(text);
}

NeoxFiles merged_neox(std::span<const SourceFile> files) {
    constexpr std::size_t most_keys = 4096;  // an order of magnitude beyond all that GPT-NeoX has
    Draft merged;
    std::map<std::string, Origin, std::less<>> first;
    std::vector<RepeatedKey> repeated;
    for (const SourceFile& file : files) {
        Document document = parse_yaml(file.path, file.text);
        Field root = document.root();
        const std::vector<std::string> keys = root.keys();
        document.check();
        if (first.size() + keys.size() > most_keys) {
            throw ConfigError(
                {Diagnostic{.file = file.path, .key = {}, .message = fmt::format("has more than {} keys", most_keys)}});
        }
        for (const std::string& key : keys) {
            const std::string name = with_underscores(key);
            const Origin origin = root.origin(key);
            const auto [at, is_first] = first.try_emplace(name, origin);
            if (is_first) {
                copy_member(merged, root, key, name);
            } else {
                repeated.push_back({at->second, origin});
            }
        }
    }
    return {merged.document(files.front().path), std::move(repeated)};
}

}  // namespace weft
