#include "models/transformer/transformer.hpp"

#include <fmt/format.h>

#include <cmath>

#include "models/transformer/encoder.hpp"
#include "models/transformer/prediction.hpp"
#include "models/transformer/recurrence.hpp"
#include "sim/base/check.hpp"

namespace weft {
namespace {

// A teacher's are none of the model's.
std::uint64_t parameters_of(const std::vector<Module>& modules) {
    return sum_of<std::uint64_t>(modules, [](const Module& module) {
        return module.name.starts_with("teacher") ? std::uint64_t{0} : module_parameters(module);
    });
}

}  // namespace

std::uint64_t qkv_width(const Transformer& model) {
    if (is_recurrent(model.mixer)) return recurrent_inputs(model);
    return query_width(model) + key_width(model) + value_width(model);
}
std::uint64_t context_width(const Transformer& model) {
    if (is_recurrent(model.mixer)) return recurrent_values(model.recurrence);
    return std::uint64_t{model.heads} * value_size(model);
}
std::uint64_t qkv_outputs(const Transformer& model) {
    return qkv_width(model) + gate_width(model) - (model.keys_are_values ? value_width(model) : 0);
}
std::uint32_t value_size(const Layer& model) {
    if (model.has_latent_attention()) return model.latent.value_size;
    return model.value_size > 0 ? model.value_size : model.head_size;
}

std::uint64_t ffn_input_width(const Layer& model) { return std::uint64_t{model.ffn_hidden} * (model.gated ? 2 : 1); }

std::uint64_t expert_input_width(const Layer& model) {
    return std::uint64_t{model.experts.ffn_hidden} * (model.gated ? 2 : 1);
}

std::uint32_t expert_hidden(const Layer& layer) {
    return layer.experts.latent > 0 ? layer.experts.latent : layer.hidden;
}

std::uint64_t shared_width(const Layer& model) {
    return std::uint64_t{model.experts.shared} * model.experts.shared_ffn_hidden;
}

std::uint64_t shared_input_width(const Layer& model) { return shared_width(model) * (model.gated ? 2 : 1); }

std::uint64_t gate_width(const Layer& layer) {
    if (layer.attention_gate == AttentionGate::none) return 0;
    return layer.attention_gate == AttentionGate::heads ? layer.heads : std::uint64_t{layer.heads} * value_size(layer);
}
static std::uint64_t indexer_matrices(const Transformer& model) {
    const Indexer& indexer = model.indexer;
    if (indexer.heads == 0) return 0;
    const bool latent = model.has_latent_attention();
    const std::uint64_t hidden = model.hidden, rank = latent && model.latent.q_rank > 0 ? model.latent.q_rank : hidden;
    return rank * indexer.heads * indexer.head_size + hidden * (indexer.head_size + (latent ? indexer.heads : 0));
}
std::uint64_t qkv_matrices(const Transformer& model) {
    const std::uint64_t hidden = model.hidden, heads = model.heads;
    if (model.mixer == Mixer::none) return 0;
    if (is_recurrent(model.mixer)) return recurrent_matrices(model);
    if (!model.has_latent_attention()) return hidden * qkv_outputs(model) + indexer_matrices(model);
    const LatentAttention& latent = model.latent;
    const std::uint64_t down = hidden * (latent.kv_rank + latent.rope_size);
    const std::uint64_t up = latent.kv_rank * heads * (latent.nope_size + latent.value_size) +
                             hidden * gate_width(model) + indexer_matrices(model);
    if (latent.q_rank == 0) return down + up + hidden * query_width(model);
    return down + up + latent.q_rank * (hidden + query_width(model));
}
bool rotates(const Transformer& model, LayerKind kind) {
    if (model.mixer != Mixer::attention || model.positions != Positions::rotary) return false;
    return model.window.tokens == 0 || model.window.full_rotary || is_windowed(kind);
}

double window_share(const AttentionWindow& window, double sequence) {
    const double tokens = window.tokens;
    if (tokens == 0 || sequence <= tokens) return 1.0;
    const auto causal = [](double keys) { return keys * (keys + 1.0) / 2.0; };
    const double chunks = std::floor(sequence / tokens);
    const double pairs = window.chunked ? chunks * causal(tokens) + causal(sequence - chunks * tokens)
                                        : causal(tokens) + (sequence - tokens) * tokens;
    return pairs / causal(sequence);
}

static void add_tensor_obstacles(const Layer& layer, std::uint32_t tensor, bool mlp,
                                 std::vector<std::string>& obstacles) {
    const auto check = [&](std::uint32_t count, std::string_view what) {
        if (count % tensor == 0) return;
        std::string why = fmt::format("{} {} cannot be shared by {} tensor ranks", count, what, tensor);
        if (std::ranges::find(obstacles, why) == obstacles.end()) obstacles.push_back(std::move(why));
    };
    if (layer.mixer == Mixer::attention) {
        check(layer.heads, "attention heads");
        const bool copied = key_copies(layer, tensor) > 1 && tensor % layer.kv_heads == 0;
        if (layer.kv_heads != layer.heads && !copied) check(layer.kv_heads, "key-value heads");
    } else if (layer.mixer != Mixer::none) {
        check(layer.recurrence.heads, "heads of the recurrence");
        check(layer.recurrence.key_heads, "key heads of the recurrence");
    }
    if (mlp) check(layer.ffn_hidden, "feed-forward units");
}

double key_copies(const Layer& layer, double tensor) {
    const bool has_keys = layer.mixer == Mixer::attention && !layer.has_latent_attention();
    return has_keys ? std::max(1.0, tensor / layer.kv_heads) : 1.0;
}

bool copies_keys(const Transformer& model, std::uint32_t tensor) {
    return std::ranges::any_of(kinds_of(model),
                               [&](LayerKind kind) { return key_copies(layer_of(model, kind), tensor) > 1; });
}

std::vector<std::string> tensor_obstacles(const Transformer& model, std::uint32_t tensor) {
    WEFT_CHECK(tensor > 0, "no tensor ranks");
    std::vector<std::string> obstacles;
    for (const LayerKind kind : kinds_of(model)) {
        const Layer& layer = layer_of(model, kind);
        add_tensor_obstacles(layer, tensor, has_mlp(layer, kind), obstacles);
    }
    return obstacles;
}

std::vector<std::string> expert_obstacles(const Transformer& model, const LayerSplit& split) {
    WEFT_CHECK(split.tensor > 0 && split.expert > 0 && split.expert_tensor > 0, "no ranks");
    if (model.experts.count == 0) {
        if (split.expert == 1) return {};
        return {fmt::format("a model without experts cannot be shared by {} expert ranks", split.expert)};
    }
    std::vector<std::string> obstacles;
    const auto check = [&](std::uint64_t count, std::string_view what, std::uint32_t ranks, std::string_view which) {
        if (count % ranks == 0) return;
        obstacles.push_back(fmt::format("{} {} cannot be shared by {} {} ranks", count, what, ranks, which));
    };
    check(model.experts.count, "experts", split.expert, "expert");
    check(model.experts.ffn_hidden, "feed-forward units of an expert", split.expert_tensor, "expert-tensor");
    check(shared_width(model), "feed-forward units of the shared experts", split.tensor, "tensor");
    return obstacles;
}

bool can_share(const Transformer& model, const LayerSplit& split) {
    return tensor_obstacles(model, split.tensor).empty() && expert_obstacles(model, split).empty();
}

std::uint64_t padded_vocabulary(const Transformer& model, std::uint32_t tensor) {
    const std::uint64_t multiple = std::uint64_t{model.vocabulary_multiple} * tensor;
    return (model.vocabulary + multiple - 1) / multiple * multiple;
}

std::uint64_t layer_parameters(const Transformer& model, LayerKind kind, const LayerSplit& split) {
    return parameters_of(layer_modules(model, kind, split));
}

std::uint64_t parameters(const Transformer& model, const LayerSplit& split) {
    std::uint64_t total = parameters_of(embedding_modules(model, split)) + parameters_of(head_modules(model, split));
    each_kind(model, model.layers, [&](LayerKind kind, std::uint32_t layers) {
        if (layer_of(model, kind).of != LayerOf::teacher) total += layers * layer_parameters(model, kind, split);
    });
    if (model.mtp_layers > 0) total += model.mtp_layers * prediction_parameters(model, split);
    return total;
}

std::uint64_t parameters(const Transformer& model, std::uint32_t tensor) {
    return parameters(model, {.tensor = tensor, .expert = 1, .expert_tensor = tensor});
}

std::uint64_t active_parameters(const Transformer& model) {
    Transformer met = model;
    const std::vector<std::uint32_t> layers = layers_by_kind(model, model.layers + model.mtp_layers);
    std::uint64_t unscored = 0;
    // The router scores every expert, also those that are not met.
    const auto meet = [&](Layer& layer, std::uint64_t routed) {
        const std::uint64_t inputs = std::uint64_t{layer.hidden} + (layer.biases.router ? 1 : 0);
        unscored += routed * (layer.experts.count - std::min(layer.experts.count, layer.experts.top_k)) * inputs;
        layer.experts.count = std::min(layer.experts.count, layer.experts.top_k);
    };
    const auto routed = [&](std::size_t named) {
        return layers[kinds_of_a_layer * named + 1] + layers[kinds_of_a_layer * named + 3];
    };
    if (model.kinds.empty()) meet(met, routed(0));
    for (std::size_t named = 0; named < model.kinds.size(); ++named) meet(met.kinds[named].layer, routed(named));
    return parameters(met) + unscored;
}

std::uint64_t embedding_parameters(const Transformer& model, std::uint32_t tensor) {
    return parameters_of(embedding_modules(model, {.tensor = tensor}));
}

std::uint64_t final_norm_parameters(const Transformer& model) {
    return module_parameters(head_modules(model, {}).front());
}

}  // namespace weft
