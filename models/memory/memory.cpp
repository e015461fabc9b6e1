#include "models/memory/memory.hpp"

#include <algorithm>

#include "models/transformer/kernel_parts.hpp"
#include "sim/base/check.hpp"

namespace weft {
namespace {

// Dropout masks take one byte per element (Korthikanti et al., section 4.1); everything else is in working precision.
constexpr double mask_bytes = 1.0;

// Scores kept by unfused attention: softmax output, dropout output and mask (5 a s^2 b / t for 2-byte elements).
Bytes kept_scores(const Shard& shard, const ShardSizes& size) {
    if (shard.attention == AttentionCore::flash) return {};
    return {size.scores * (2.0 * size.element_bytes + mask_bytes)};
}

// The MLP activation's input and output: 16 s b h / t, or what takes its place.
Bytes kept_mlp(const Transformer& model, LayerKind kind, const Shard& shard, const ShardSizes& size) {
    if (kind == LayerKind::dense) return {size.tokens * (size.ffn_inputs + size.ffn) * size.element_bytes};
    constexpr double probability_bytes = 4.0;
    const ExpertSizes expert(model, shard);
    const double rows = expert.received() * (size.hidden + expert.inputs + expert.ffn);
    const double returned = expert.dispatched * size.hidden;
    const double shared = size.tokens * (expert.shared_inputs + expert.shared_ffn);
    const double probabilities = expert.routed * model.experts.count;
    return {(rows + returned + shared) * size.element_bytes + probabilities * probability_bytes};
}

// Everything but the scores: 34 s b h for a plain layer on one rank.
Bytes kept_states(const Transformer& model, LayerKind kind, const Shard& shard, const ShardSizes& size) {
    // Inputs of both norms, of QKV and of the MLP, and two dropout masks: 10 s b h, repeated on every tensor rank
    // unless the sequence is divided as well.
    const double repeated = size.own_state * (4.0 * size.element_bytes + 2.0 * mask_bytes);
    // Queries, keys, values and the projection's input: 8 s b h / t.
    const double divided = size.tokens * (size.qkv + size.queries);
    return Bytes{repeated + divided * size.element_bytes} + kept_mlp(model, kind, shard, size);
}

// Gradients alive at the widest point of backward: around the MLP's activation function its output's and its input's,
// around unfused attention the probabilities' and the scores'; the hidden state's throughout.
Bytes backward_transients(const Transformer& model, LayerKind kind, const Shard& shard) {
    const ShardSizes size(model, shard);
    double mlp = size.tokens * (size.ffn + size.ffn_inputs);
    if (kind == LayerKind::expert) {
        const ExpertSizes expert(model, shard);
        const double shared = size.tokens * (expert.shared_ffn + expert.shared_inputs);
        mlp = std::max(expert.received() * (size.hidden + expert.ffn + expert.inputs), shared);
    }
    const double core =
        shard.attention == AttentionCore::flash ? size.tokens * (size.qkv + size.queries) : 2.0 * size.scores;
    return {(size.hidden_state + std::max(mlp, core)) * size.element_bytes};
}

}  // namespace

Bytes layer_activations(const Transformer& model, LayerKind kind, const Shard& shard, Recompute recompute) {
    const ShardSizes size(model, shard);
    switch (recompute) {
        case Recompute::none:
            return kept_states(model, kind, shard, size) + kept_scores(shard, size);
        case Recompute::selective:
            return kept_states(model, kind, shard, size);
        case Recompute::full:
            break;
    }
    return {size.own_state * size.element_bytes};
}

Bytes layer_workspace(const Transformer& model, LayerKind kind, const Shard& shard, Recompute recompute) {
    const Bytes recomputed =
        layer_activations(model, kind, shard, Recompute::none) - layer_activations(model, kind, shard, recompute);
    return recomputed + backward_transients(model, kind, shard);
}

Bytes layer_activations(const Transformer& model, const Shard& shard, Recompute recompute) {
    WEFT_CHECK(model.experts.count == 0, "the layers of a model with experts differ; name the kind of layer");
    return layer_activations(model, LayerKind::dense, shard, recompute);
}

Bytes layer_workspace(const Transformer& model, const Shard& shard, Recompute recompute) {
    WEFT_CHECK(model.experts.count == 0, "the layers of a model with experts differ; name the kind of layer");
    return layer_workspace(model, LayerKind::dense, shard, recompute);
}

Bytes embedding_activations(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    constexpr double token_bytes = 8.0;  // an int64 per token, for the gradient's scatter
    return {size.own_state * mask_bytes + size.tokens * token_bytes};
}

Bytes head_activations(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    const double vocabulary = static_cast<double>(padded_vocabulary(model, shard.tensor)) / shard.tensor;
    constexpr double softmax_bytes = 4.0;
    return {2.0 * size.own_state * size.element_bytes + size.tokens * vocabulary * softmax_bytes};
}

}  // namespace weft
