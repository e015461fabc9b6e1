// The kernels of a transformer layer, embedding and head as one tensor-parallel rank runs them: shapes, FLOPs, bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/transformer/transformer.hpp"
#include "sim/base/quantity.hpp"

namespace weft {

enum class KernelKind : std::uint8_t {
    gemm,       // m x n x k, `count` of them in one launch (batched)
    attention,  // fused (flash) attention core
    memory,     // element-wise, norms, softmax, dropout, ...: bound by bytes
};

struct Kernel {
    std::string_view name;
    KernelKind kind = KernelKind::memory;
    double m = 0, n = 0, k = 0, count = 1;  // of a gemm
    Flops flops;
    Bytes bytes;  // read and written
};

enum class AttentionCore : std::uint8_t { unfused, flash };
enum class SequenceParallel : std::uint8_t { off, on };

// What one tensor rank sees of one micro-batch.
struct Shard {
    std::uint32_t micro_batch = 1;
    std::uint32_t sequence = 1;
    std::uint32_t tensor = 1;
    double element_bytes = 2.0;
    AttentionCore attention = AttentionCore::flash;
    SequenceParallel sequence_parallel = SequenceParallel::off;
};

struct LayerKernels {
    std::vector<Kernel> attention;       // norm, QKV, core, projection, residual
    std::vector<Kernel> attention_core;  // the part of `attention` that selective recomputation repeats
    std::vector<Kernel> mlp;
};

LayerKernels layer_forward(const Transformer& model, const Shard& shard);
LayerKernels layer_backward(const Transformer& model, const Shard& shard);  // attention_core empty
std::vector<Kernel> embedding_forward(const Transformer& model, const Shard& shard);
std::vector<Kernel> embedding_backward(const Transformer& model, const Shard& shard);
std::vector<Kernel> head_forward(const Transformer& model, const Shard& shard);  // final norm, logits, cross entropy
std::vector<Kernel> head_backward(const Transformer& model, const Shard& shard);

// Matmul FLOPs of the model for `sequences` sequences of length `sequence`, forward and backward, no recomputation:
// 6 FLOPs per matrix parameter and token plus 12 L h s per token of attention scores (full, not causal), i.e.
// 72 B s L h^2 (1 + s/6h + V/12Lh) for h_ffn = 4h. Source: Narayanan et al. 2021 (2104.04473) without recomputation.
Flops model_flops(const Transformer& model, double sequences, double sequence);

}  // namespace weft
