// The building bricks of kernel lists: one kernel each, from its shape.
#pragma once

#include <string_view>

#include "models/transformer/kernels.hpp"

namespace weft {

// C (m x n) = A (m x k) B (k x n), `count` independent ones in one launch: 2mnk FLOPs and each matrix moved once.
Kernel gemm_kernel(std::string_view name, double m, double n, double k, double element_bytes, double count = 1.0);

// Moves `elements` elements, all reads and writes together.
Kernel memory_kernel(std::string_view name, double elements, double element_bytes);

// The sizes that every list is made of, for one tensor rank.
struct ShardSizes {
    ShardSizes(const Transformer& model, const Shard& shard);

    double tokens;        // b s
    double hidden;        // h
    double hidden_state;  // elements b s h of the activation between the blocks, whole
    double own_state;     // of which this rank normalises and adds its share: all, or 1/t with sequence parallelism
    double qkv;           // outputs of the QKV map, on this rank
    double queries;       // of which queries
    double rotated;       // queries and keys
    double ffn_inputs;    // outputs of the MLP's first map (both halves of a gated one)
    double ffn;           // inputs of its second
    double scores;        // elements of the attention score matrices: b a s^2 / t
    double heads;         // matrices of scores: b a / t
    double element_bytes;
};

}  // namespace weft
