// Device memory of one rank of one pipeline stage.
#pragma once

#include <cstdint>

#include "models/transformer/kernels.hpp"
#include "models/transformer/transformer.hpp"
#include "sim/base/quantity.hpp"

namespace weft {

enum class Recompute : std::uint8_t { none, selective, full };

// Bytes of the activations that one transformer layer keeps for backward, for one micro-batch on one tensor rank.
// Korthikanti et al. (2205.05198) equations 1-6, for 2-byte activations and a plain layer:
//   none       s b h (10 + 24/t + 5 a s / (h t))    (34/t instead of 10 + 24/t with sequence parallelism)
//   selective  the same without the attention-score term
//   full       2 s b h  (the layer's input; / t with sequence parallelism)
// Other shapes (grouped heads, gated or wider MLPs) by the same inventory. With flash attention the score term is never
// stored. Dropout masks are counted, as in the source, whether or not dropout is 0.
// Context ranks keep 1 / context of every term. A layer with experts keeps, in place of the MLP's activations, the
// rows that its experts received (h), both sides of their activation function (f + f_in) and the rows that came back
// to be weighted (h), the same two sides of the shared experts, and the router's probabilities in fp32.
Bytes layer_activations(const Transformer& model, LayerKind kind, const Shard& shard, Recompute recompute);
Bytes layer_activations(const Transformer& model, const Shard& shard, Recompute recompute);  // without experts

// What is alive while one layer runs backward, beyond what `recompute` keeps: the activations that it recomputes, and
// the gradients at the widest point: s b (h + (f + f_in) / t) elements around the MLP's activation function, or
// s b h + 2 a s^2 b / t around unfused attention, whichever is more; around the experts' activation function, of their
// rows.
Bytes layer_workspace(const Transformer& model, LayerKind kind, const Shard& shard, Recompute recompute);
Bytes layer_workspace(const Transformer& model, const Shard& shard, Recompute recompute);  // without experts

// Kept by the embedding (dropout mask and token ids; its output is the first layer's input and counted there) and by
// the head (inputs of the final norm and of the logits, and the softmax in fp32: 4 s b (h + V/t)) per micro-batch.
Bytes embedding_activations(const Transformer& model, const Shard& shard);
Bytes head_activations(const Transformer& model, const Shard& shard);

struct MemoryUse {
    Bytes parameters;  // working copy
    Bytes gradients;
    Bytes optimizer;    // fp32 master, momentum, variance of what this rank updates
    Bytes activations;  // at the peak
    Bytes buffers;      // gradient buckets and communication buffers
    Bytes workspace;    // of one layer under recomputation, logits, framework and allocator overhead
    Bytes total() const { return parameters + gradients + optimizer + activations + buffers + workspace; }
};

}  // namespace weft
