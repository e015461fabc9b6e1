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
    Flops flops;                            // of matrix products; the attention scores in full, although causal
    Bytes bytes;                            // read and written
    // FLOPs that the device executes over `flops`: flash attention skips the masked half of the scores and computes
    // the other half twice (once more in backward).
    double executed = 1.0;
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

// All lists are in the order of execution. Every weight matrix is one gemm forward ("qkv", "dense", "h_to_4h",
// "4h_to_h", "logits") and two backward ("... input gradient", "... weight gradient"). No dropout.
LayerKernels layer_forward(const Transformer& model, const Shard& shard);
LayerKernels layer_backward(const Transformer& model, const Shard& shard);  // attention_core empty
std::vector<Kernel> embedding_forward(const Transformer& model, const Shard& shard);
std::vector<Kernel> embedding_backward(const Transformer& model, const Shard& shard);
std::vector<Kernel> head_forward(const Transformer& model, const Shard& shard);  // final norm, logits, cross entropy
std::vector<Kernel> head_backward(const Transformer& model, const Shard& shard);

}  // namespace weft
