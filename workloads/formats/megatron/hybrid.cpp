// Hybrid patterns of Megatron-LM, a letter a layer: core/models/hybrid/hybrid_layer_allocation.py and core/ssm of
// d98e8a64, August 2026.

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "sim/base/texts.hpp"
#include "workloads/formats/megatron/keys.hpp"
#include "workloads/framework/refusals.hpp"

namespace weft {
namespace {

// Chunks as core/ssm/mamba_mixer.py has them, where the convolution has four tokens.
void add_mamba(MegatronReading& in, Draft& layer, std::string_view because) {
    constexpr std::string_view heads = "mamba_num_heads", head = "mamba_head_dim";
    for (const std::string_view key : {head, std::string_view("mamba_state_dim"), std::string_view("mamba_num_groups")})
        if (in.has(key)) in.needs("core-0.12", key);
    if (in.has(heads)) in.needs("core-0.13", heads);
    layer.set("mixer", "mamba2", in.origin(because));
    Draft& shape = layer.object("recurrence");
    const std::uint64_t wide = in.has(head) ? in.keys.count(head) : 64;
    in.take_or(shape, "heads", heads,
               std::max<std::uint64_t>(1, 2 * std::uint64_t{in.keys.count("hidden_size")} / wide), because);
    in.take_or(shape, "key_heads", "mamba_num_groups", 8, because);
    in.take_or(shape, "key_size", "mamba_state_dim", 128, because);
    in.take_or(shape, "value_size", head, 64, because);
    shape.set("chunk", 128, in.derived(because, "of Megatron-core's Mamba"));
}

struct Letter {
    char letter;
    std::string_view feed_forward, since;
};
constexpr Letter letters[] = {{'M', "none", ""},
                              {'*', "none", ""},
                              {'-', "mlp", ""},
                              {'E', "experts", hybrid_experts_since},
                              {'G', "none", hybrid_stages_since},
                              {'D', "none", hybrid_indexer_since},
                              {'+', "none", hybrid_latent_since}};

void add_letter(MegatronReading& in, Draft& kinds, char letter, std::string_view key) {
    const auto found = std::ranges::find(letters, letter, &Letter::letter);
    if (found == std::end(letters)) {
        return in.error(
            key, "expected layers M, G, *, D, +, - and E, stages between | and predictions behind /, got {}", letter);
    }
    if (!found->since.empty()) in.needs(found->since, key);
    Draft& kind = kinds.object(std::string(1, letter), in.origin(key));
    kind.set("feed_forward", found->feed_forward, in.origin(key));
    if (letter == 'M') add_mamba(in, kind, key);
    if (letter == 'G') add_delta_net(in, kind, key);
    if (letter == 'D') add_indexer(in, kind, key);
    if (letter == '-' || letter == 'E') kind.set("mixer", "none", in.origin(key));
}

// Modules of prediction, one or more letters each, after a slash.
void read_predictions(MegatronReading& in, Draft& model, const HybridPattern& pattern, std::string_view key) {
    constexpr std::string_view old = "mtp_hybrid_override_pattern";
    std::vector<std::string> modules = pattern.predictions;
    if (in.has(old)) modules.push_back(in.word(old));
    if (modules.empty() && in.number("mtp_num_layers") > 0)
        in.error("mtp_num_layers", "needs the letters of each prediction module behind / in the pattern");
    for (const std::string& module : modules) {
        if (module.size() == 1 && pattern.layers.ends_with(module)) continue;
        return in.error(in.first_of({old, key}), "weft's prediction modules are one layer each, like the last; not {}",
                        module);
    }
    if (pattern.predictions.empty()) return;
    in.needs(hybrid_stages_since, key);
    model.set("mtp_layers", pattern.predictions.size(), in.origin(key));
}

}  // namespace

void read_hybrid_pattern(MegatronReading& in, Draft& model, const HybridPattern& pattern) {
    const std::string_view key = pattern.key;
    if (key == "hybrid_layer_pattern" || pattern.stages.size() > 1) in.needs(hybrid_stages_since, key);
    if (in.has("hybrid_layer_pattern") && in.has("hybrid_override_pattern"))
        in.error("hybrid_override_pattern", "--hybrid-layer-pattern is given, too");
    Draft& kinds = model.object("layer_kinds", in.origin(key));
    for (std::size_t i = 0; i < pattern.layers.size(); ++i)
        if (pattern.layers.find(pattern.layers[i]) == i) add_letter(in, kinds, pattern.layers[i], key);
    model.set("layer_pattern", pattern.layers, in.origin(key));
    read_predictions(in, model, pattern, key);
    if (in.has("linear_attention_freq")) in.note("linear_attention_freq", "has no effect on a hybrid pattern");
    for (const std::string_view other : {"window_attn_skip_freq", "no_rope_freq"})
        if (in.has(other)) in.error(other, "weft reads it of layers without a hybrid pattern");
    add_window(in, model, read_window(in));
}

HybridPattern hybrid_pattern(MegatronReading& in) {
    HybridPattern pattern;
    for (const std::string_view key : {"hybrid_layer_pattern", "hybrid_override_pattern"})
        if (pattern.key.empty() && in.has(key)) pattern.key = key;
    if (pattern.key.empty()) return pattern;
    const std::string said = in.word(pattern.key);
    const std::vector<std::string_view> parts = parts_of(said, '/');
    for (const std::string_view stage : parts_of(parts.front(), '|')) {
        pattern.stages.push_back(static_cast<std::uint32_t>(stage.size()));
        pattern.layers += stage;
    }
    pattern.predictions.assign(parts.begin() + 1, parts.end());
    return pattern;
}

std::uint32_t megatron_layers(MegatronReading& in) {
    const HybridPattern pattern = hybrid_pattern(in);
    if (!pattern.key.empty()) return std::max(1U, static_cast<std::uint32_t>(pattern.layers.size()));
    return in.keys.count(in.has("num_layers") ? "num_layers" : in.first_of({"encoder_num_layers", "num_layers"}));
}

}  // namespace weft
