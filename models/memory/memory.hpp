// Device memory of one rank of one pipeline stage.
#pragma once

#include <cstdint>

#include "models/transformer/kernels.hpp"
#include "models/transformer/transformer.hpp"
#include "sim/base/quantity.hpp"

namespace weft {

enum class Recompute : std::uint8_t { none, selective, full };

// Bytes of the activations that one transformer layer keeps for backward, for one micro-batch on one tensor rank.
// Korthikanti et al. (2205.05198) equations 1-6, for 2-byte activations:
//   none       s b h (10 + 24/t + 5 a s / (h t))    (34/t instead of 10 + 24/t with sequence parallelism)
//   selective  the same without the attention-score term
//   full       2 s b h  (the layer's input; / t with sequence parallelism or partitioned activations)
// With flash attention the score term is never stored.
Bytes layer_activations(const Transformer& model, const Shard& shard, Recompute recompute);
// What is alive while one layer is recomputed and run backward, beyond what `recompute` keeps.
Bytes layer_workspace(const Transformer& model, const Shard& shard, Recompute recompute);
// Kept by the embedding (its output, dropout mask) and by the head (logits, softmax) per micro-batch.
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
