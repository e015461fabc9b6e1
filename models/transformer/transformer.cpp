#include "models/transformer/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/transformer/prediction.hpp"
#include "sim/base/check.hpp"

namespace weft {
namespace {

// A model that functions without a LayerKind can speak of.
void check_dense(const Transformer& model) {
    WEFT_CHECK(model.experts.count == 0, "the layers of a model with experts differ; name the kind of layer");
}

std::uint64_t parameters_of(const std::vector<Module>& modules) {
    return std::accumulate(modules.begin(), modules.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const Module& module) { return sum + module_parameters(module); });
}

}  // namespace

std::uint64_t query_width(const Transformer& model) { return std::uint64_t{model.heads} * model.head_size; }
std::uint64_t key_width(const Transformer& model) { return std::uint64_t{model.kv_heads} * model.head_size; }
std::uint64_t value_width(const Transformer& model) { return std::uint64_t{model.kv_heads} * value_size(model); }
std::uint64_t qkv_width(const Transformer& model) { return query_width(model) + key_width(model) + value_width(model); }
std::uint64_t context_width(const Transformer& model) { return std::uint64_t{model.heads} * value_size(model); }
std::uint32_t value_size(const Transformer& model) {
    return model.has_latent_attention() ? model.latent.value_size : model.head_size;
}
std::uint64_t qkv_matrices(const Transformer& model) {
    const std::uint64_t hidden = model.hidden, heads = model.heads;
    if (!model.has_latent_attention()) return hidden * qkv_width(model);
    const LatentAttention& latent = model.latent;
    const std::uint64_t down = hidden * (latent.kv_rank + latent.rope_size);
    const std::uint64_t up = latent.kv_rank * heads * (latent.nope_size + latent.value_size);
    if (latent.q_rank == 0) return down + up + hidden * query_width(model);
    return down + up + latent.q_rank * (hidden + query_width(model));
}
std::uint64_t ffn_input_width(const Transformer& model) {
    return std::uint64_t{model.ffn_hidden} * (model.gated ? 2 : 1);
}
std::uint64_t expert_input_width(const Transformer& model) {
    return std::uint64_t{model.experts.ffn_hidden} * (model.gated ? 2 : 1);
}
std::uint64_t shared_width(const Transformer& model) {
    return std::uint64_t{model.experts.shared} * model.experts.shared_ffn_hidden;
}
std::uint64_t shared_input_width(const Transformer& model) { return shared_width(model) * (model.gated ? 2 : 1); }

static bool has_experts(const Experts& experts, std::uint32_t layer) {
    if (experts.count == 0 || layer < experts.first_dense) return false;
    return (layer - experts.first_dense) % experts.every == 0;
}

static bool is_windowed(const AttentionWindow& window, std::uint32_t layer) {
    if (window.tokens == 0 || layer < window.first_full) return false;
    return window.full_every == 0 || (layer - window.first_full + 1) % window.full_every != 0;
}

LayerKind layer_kind(const Transformer& model, std::uint32_t layer) {
    layer = std::min(layer, model.layers - 1);
    const bool expert = has_experts(model.experts, layer);
    if (!is_windowed(model.window, layer)) return expert ? LayerKind::expert : LayerKind::dense;
    return expert ? LayerKind::windowed_expert : LayerKind::windowed_dense;
}

std::uint32_t expert_layers(const Transformer& model) {
    const Experts& experts = model.experts;
    if (experts.count == 0 || experts.first_dense >= model.layers) return 0;
    return (model.layers - experts.first_dense - 1) / experts.every + 1;
}

std::uint32_t windowed_layers(const Transformer& model) {
    const AttentionWindow& window = model.window;
    if (window.tokens == 0 || window.first_full >= model.layers) return 0;
    const std::uint32_t others = model.layers - window.first_full;
    return others - (window.full_every == 0 ? 0 : others / window.full_every);
}

bool rotates(const Transformer& model, LayerKind kind) {
    if (model.positions != Positions::rotary) return false;
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

std::vector<std::string> tensor_obstacles(const Transformer& model, std::uint32_t tensor) {
    WEFT_CHECK(tensor > 0, "no tensor ranks");
    std::vector<std::string> obstacles;
    const auto check = [&](std::uint32_t count, std::string_view what) {
        if (count % tensor == 0) return;
        obstacles.push_back(fmt::format("{} {} cannot be shared by {} tensor ranks", count, what, tensor));
    };
    check(model.heads, "attention heads");
    if (model.kv_heads != model.heads) check(model.kv_heads, "key-value heads");
    if (expert_layers(model) < model.layers) check(model.ffn_hidden, "feed-forward units");
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

std::uint64_t padded_vocabulary(const Transformer& model, std::uint32_t tensor) {
    const std::uint64_t multiple = std::uint64_t{model.vocabulary_multiple} * tensor;
    return (model.vocabulary + multiple - 1) / multiple * multiple;
}

std::uint64_t layer_parameters(const Transformer& model, LayerKind kind, const LayerSplit& split) {
    return parameters_of(layer_modules(model, kind, split));
}

std::uint64_t parameters(const Transformer& model, const LayerSplit& split) {
    const std::uint64_t with = expert_layers(model), without = model.layers - with;
    std::uint64_t total = parameters_of(embedding_modules(model, split)) + parameters_of(head_modules(model, split));
    if (with > 0) total += with * layer_parameters(model, LayerKind::expert, split);
    if (without > 0) total += without * layer_parameters(model, LayerKind::dense, split);
    if (model.mtp_layers > 0) total += model.mtp_layers * prediction_parameters(model, split);
    return total;
}

std::uint64_t parameters(const Transformer& model, std::uint32_t tensor) {
    return parameters(model, {.tensor = tensor, .expert = 1, .expert_tensor = tensor});
}

std::uint64_t active_parameters(const Transformer& model) {
    if (model.experts.count == 0) return parameters(model);
    Transformer met = model;
    met.experts.count = model.experts.top_k;
    // The router scores every expert, also those that are not met.
    const std::uint64_t inputs = std::uint64_t{model.hidden} + (model.biases.router ? 1 : 0);
    const std::uint64_t unscored = (model.experts.count - met.experts.count) * inputs;
    const std::uint64_t predicting = has_experts(layer_kind(model, model.layers)) ? model.mtp_layers : 0;
    return parameters(met) + (expert_layers(model) + predicting) * unscored;
}

std::uint64_t layer_parameters(const Transformer& model, std::uint32_t tensor) {
    check_dense(model);
    return layer_parameters(model, LayerKind::dense, {.tensor = tensor});
}

std::uint64_t embedding_parameters(const Transformer& model, std::uint32_t tensor) {
    return parameters_of(embedding_modules(model, {.tensor = tensor}));
}

std::uint64_t final_norm_parameters(const Transformer& model) {
    return module_parameters(head_modules(model, {}).front());
}

std::uint64_t head_parameters(const Transformer& model, std::uint32_t tensor) {
    const std::vector<Module> modules = head_modules(model, {.tensor = tensor});
    return parameters_of(modules) - module_parameters(modules.front());
}

}  // namespace weft
