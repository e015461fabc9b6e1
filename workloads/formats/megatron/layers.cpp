// What arguments of Megatron-LM say of layers beside their sizes: for all, or by lists with 0 or 1 for each (linear
// attention, experts, windows, positions). Defaults: core/transformer/transformer_config.py of d98e8a64, August 2026.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/texts.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/megatron/keys.hpp"
#include "workloads/framework/refusals.hpp"

namespace weft {
namespace {

using List = std::vector<std::uint32_t>;

constexpr std::string_view variant_key = "experimental_attention_variant", window_key = "window_size",
                           skip_key = "window_attn_skip_freq";

// 0 and 1 for each layer; of a number, `last` of the last layer of each run of so many and the other of the rest.
List listed(MegatronReading& in, std::string_view key, std::uint32_t layers, std::uint32_t last) {
    List list;
    constexpr std::uint32_t most = 1U << 16;
    if (layers > most) {
        in.error(key, "expected at most {} layers, got {}", most, layers);
        return {};
    }
    if (in.keys.is_number(key)) {
        const std::uint32_t run = in.keys.count(key);
        for (std::uint32_t i = 1; i <= layers; ++i) list.push_back(i % run == 0 ? last : 1 - last);
        return list;
    }
    list = python_list(in.word(key));
    if (list.size() == layers) return list;
    in.error(key, "expected a number or a list of 0 and 1 for each of {} layers, got {} of them", layers, list.size());
    return {};
}

// Layers with experts as the model says it: every so manieth behind some dense ones. Whether it can.
bool say_experts(MegatronReading& in, Draft& model, const List& list) {
    const auto first = std::ranges::find(list, 1U);
    if (first == list.end()) return false;
    const auto dense = static_cast<std::size_t>(first - list.begin());
    const auto second = std::find(first + 1, list.end(), 1U);
    const std::size_t every = second == list.end() ? list.size() : static_cast<std::size_t>(second - first);
    for (std::size_t i = 0; i < list.size(); ++i)
        if (list[i] != (i >= dense && (i - dense) % every == 0 ? 1U : 0U)) return false;
    Draft& experts = model.object("experts");
    if (dense > 0) experts.set("first_dense", dense, in.origin("moe_layer_freq"));
    if (every > 1) experts.set("every", every, in.origin("moe_layer_freq"));
    return true;
}

// What a layer, or all, has because of a key; of windows the tokens that one sees, 0: all.
void add_delta_net(MegatronReading& in, Draft& layer, std::string_view because) {
    layer.set("mixer", "gated_delta", in.origin(because));
    Draft& shape = layer.object("recurrence");
    in.take_or(shape, "heads", "linear_num_value_heads", 32, because);
    in.take_or(shape, "key_heads", "linear_num_key_heads", 16, because);
    in.take_or(shape, "key_size", "linear_key_head_dim", 128, because);
    in.take_or(shape, "value_size", "linear_value_head_dim", 128, because);
    in.take_or(shape, "convolution", "linear_conv_kernel_dim", 4, because);
}

void add_indexer(MegatronReading& in, Draft& layer, std::string_view because) {
    constexpr std::string_view every = "dsa_indexer_topk_freq";
    Draft& indexer = layer.object("indexer", in.origin(because));
    bool all = in.take("dsa_indexer_n_heads", indexer, "heads");
    all = in.take("dsa_indexer_head_dim", indexer, "head_size") && all;
    all = in.take("dsa_indexer_topk", indexer, "top_k") && all;
    if (!all) in.error(because, "needs --dsa-indexer-n-heads, --dsa-indexer-head-dim and --dsa-indexer-topk");
    if (!in.on("dsa_indexer_use_sparse_loss"))
        in.warn(because,
                "what trains the indexer is simulated over chosen tokens, as --dsa-indexer-use-sparse-loss does");
    if (in.number(every) > 1) in.error(every, "weft's layers each choose the tokens that they attend to");
}

// "(127,0)": tokens before a layer's own and behind it. Those that a token sees; 0: all.
std::uint32_t read_window(MegatronReading& in) {
    const std::string said = in.word(window_key);
    std::vector<int> sizes;
    for (const char *at = said.data(), *const end = at + said.size(); at != end;) {
        int value = 0;
        const auto [next, error] = std::from_chars(at, end, value);
        if (error == std::errc()) sizes.push_back(value);
        at = error == std::errc() ? next : at + 1;
    }
    if (sizes.empty() || in.lower(window_key) == "none") return 0;
    in.needs(window_since, window_key);
    if (sizes.size() != 2 || sizes[0] < -1 || sizes[0] >= 1 << 30 || sizes[1] > 0) {
        in.error(window_key, "expected tokens before and 0 behind, as \"(127,0)\", got {}", said);
        return 0;
    }
    return static_cast<std::uint32_t>(sizes[0] + 1);
}

void add_window(MegatronReading& in, Draft& layer, std::uint32_t tokens) {
    if (tokens > 0)
        layer.object("attention_window", in.origin(window_key)).set("tokens", tokens, in.origin(window_key));
}

// The kinds that lists make of layers, in the order in which they come.
class UnlikeLayers {
  public:
    UnlikeLayers(MegatronReading& in, Draft& model, std::uint32_t layers) : in_(in), model_(model), layers_(layers) {}

    void read() {
        read_variant();
        read_windows();
        if (in_.has("no_rope_freq") && in_.lower("no_rope_freq") != "none") {
            bare_ = listed(in_, "no_rope_freq", layers_, 1);
            in_.needs(bare_layers_since, "no_rope_freq");
        }
        if (model_.has("experts") && in_.has("moe_layer_freq")) read_routed();
        if (linear_.empty() && windowed_.empty() && bare_.empty() && routed_.empty()) return;
        const auto name = [this](std::uint32_t i) { return name_of(i); };
        set_pattern(list_of<std::string>(numbers_below<std::uint32_t>(layers_), name), origin_, model_);
    }

  private:
    void read_variant() {
        constexpr std::string_view freq = "linear_attention_freq";
        const std::string variant = in_.lower(variant_key, "none");
        if (variant == "none") return;
        in_.needs(variants_since, variant_key);
        if (variant == "dsa") return add_indexer(in_, model_, variant_key);
        if (variant != "gdn" && variant != "gated_delta_net")
            return in_.error(variant_key, "weft has gdn (gated_delta_net) and dsa, not {}", variant);
        if (!in_.has(freq)) return in_.error(variant_key, "needs --linear-attention-freq");
        linear_ = listed(in_, freq, layers_, 0);
        origin_ = in_.origin(freq);
    }

    void read_windows() {
        window_ = read_window(in_);
        const bool skips = in_.has(skip_key);
        if (window_ == 0) return;
        if (skips && !in_.keys.is_number(skip_key)) {
            windowed_ = listed(in_, skip_key, layers_, 0);
            origin_ = in_.origin(skip_key);
        } else if (in_.number(skip_key) != 1) {  // 1: no layer has one
            add_window(in_, model_, window_);
            if (skips) in_.take(skip_key, model_.object("attention_window"), "full_every");
        }
    }

    void read_routed() {
        constexpr std::string_view key = "moe_layer_freq";
        if (in_.keys.is_number(key)) {
            in_.take(key, model_.object("experts"), "every");
        } else if (List list = listed(in_, key, layers_, 0); !say_experts(in_, model_, list)) {
            routed_ = std::move(list);
            origin_ = in_.origin(key);
        }
    }

    // Makes the kind of a layer where there is none yet.
    std::string name_of(std::uint32_t i) {
        const auto is = [i](const List& list) { return i < list.size() && list[i] != 0; };
        const bool linear = is(linear_), windowed = !linear && is(windowed_), bare = !linear && is(bare_);
        const bool dense = !routed_.empty() && !is(routed_);
        const std::string_view mixer = linear ? "gated_delta" : windowed ? "windowed" : "attention";
        const std::string name = fmt::format("{}{}{}", mixer, bare ? "_without_positions" : "", dense ? "_dense" : "");
        Draft& kinds = model_.object("layer_kinds");
        if (kinds.has(name)) return name;
        Draft& kind = kinds.object(name, origin_);
        if (linear) add_delta_net(in_, kind, variant_key);
        if (windowed) add_window(in_, kind, window_);
        if (bare) kind.set("positions", "none", in_.origin("no_rope_freq"));
        if (dense) kind.set("feed_forward", "mlp", in_.origin("moe_layer_freq"));
        return name;
    }

    MegatronReading& in_;
    Draft& model_;
    std::uint32_t layers_, window_ = 0;  // tokens of a window
    List linear_, windowed_, bare_, routed_;
    Origin origin_ = in_.origin("no_rope_freq");
};

// A hybrid stack's modules are what its pattern says; those of GPT are what the other flags say.
void read_spec(MegatronReading& in, bool hybrid) {
    constexpr std::string_view key = "spec", flag = "is_hybrid_model";
    std::string said = in.word(key, "local");
    std::erase_if(said, [](char c) { return c == '[' || c == ']'; });
    const bool stack = said.ends_with("mamba_stack_spec") || said.ends_with("hybrid_stack_spec");
    if ((stack || in.on(flag)) && !hybrid)
        in.error(stack ? key : flag, "needs --hybrid-layer-pattern (before core 0.17 --hybrid-override-pattern)");
    if (!stack && said != "local" && said.find("gpt_layer_specs") == said.npos)
        in.error(key, "weft knows the layers of mamba_stack_spec and hybrid_stack_spec, not those of {}", said);
}

// Hybrid patterns of Megatron-LM, a letter a layer: core/models/hybrid/hybrid_layer_allocation.py and core/ssm of
// d98e8a64, August 2026.

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

}  // namespace

void read_megatron_layers(MegatronReading& in, Draft& model) {
    const HybridPattern pattern = hybrid_pattern(in);
    const bool hybrid = !pattern.key.empty();
    read_spec(in, hybrid);
    if (in.on("attention_output_gate")) {
        model.set("attention_gate", "elements", in.origin("attention_output_gate"));
        in.needs(variants_since, "attention_output_gate");
    }
    if (in.lower("softmax_type") == "learnable") {
        model.set("attention_sinks", true, in.origin("softmax_type"));
        in.needs(window_since, "softmax_type");
    } else if (in.has("softmax_type") && in.lower("softmax_type") != "vanilla") {
        in.error("softmax_type", "weft has vanilla and learnable, not {}", in.lower("softmax_type"));
    }
    hybrid ? read_hybrid_pattern(in, model, pattern) : UnlikeLayers(in, model, megatron_layers(in)).read();
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
