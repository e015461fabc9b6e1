#include "models/memory/memory.hpp"

#include <algorithm>

#include "models/transformer/kernel_parts.hpp"

namespace weft {
namespace {

// Dropout masks take one byte per element (Korthikanti et al., section 4.1); everything else is in working precision.
constexpr double mask_bytes = 1.0;

// Scores kept by unfused attention: softmax output, dropout output and mask (5 a s^2 b / t for 2-byte elements).
Bytes kept_scores(const Shard& shard, const ShardSizes& size) {
    if (shard.attention == AttentionCore::flash) return {};
    return {size.scores * (2.0 * size.element_bytes + mask_bytes)};
}

// Everything but the scores: 34 s b h for a plain layer on one rank.
Bytes kept_states(const ShardSizes& size) {
    // Inputs of both norms, of QKV and of the MLP, and two dropout masks: 10 s b h, repeated on every tensor rank
    // unless the sequence is divided as well.
    const double repeated = size.own_state * (4.0 * size.element_bytes + 2.0 * mask_bytes);
    // Queries, keys, values, the projection's input, and the MLP activation's input and output: 24 s b h / t.
    const double divided = size.tokens * (size.qkv + size.queries + size.ffn_inputs + size.ffn);
    return {repeated + divided * size.element_bytes};
}

// Gradients alive at the widest point of backward: around the MLP's activation function its output's and its input's,
// around unfused attention the probabilities' and the scores'; the hidden state's throughout.
Bytes backward_transients(const Shard& shard, const ShardSizes& size) {
    const double mlp = size.tokens * (size.ffn + size.ffn_inputs);
    const double core =
        shard.attention == AttentionCore::flash ? size.tokens * (size.qkv + size.queries) : 2.0 * size.scores;
    return {(size.hidden_state + std::max(mlp, core)) * size.element_bytes};
}

}  // namespace

Bytes layer_activations(const Transformer& model, const Shard& shard, Recompute recompute) {
    const ShardSizes size(model, shard);
    switch (recompute) {
        case Recompute::none:
            return kept_states(size) + kept_scores(shard, size);
        case Recompute::selective:
            return kept_states(size);
        case Recompute::full:
            break;
    }
    return {size.own_state * size.element_bytes};
}

Bytes layer_workspace(const Transformer& model, const Shard& shard, Recompute recompute) {
    const Bytes recomputed =
        layer_activations(model, shard, Recompute::none) - layer_activations(model, shard, recompute);
    return recomputed + backward_transients(shard, ShardSizes(model, shard));
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
