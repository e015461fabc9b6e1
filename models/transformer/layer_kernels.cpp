// One transformer layer. Element-wise kernels are counted as they are usually fused: bias into GELU, bias into the
// residual addition, scaling and mask into the softmax.
#include "models/transformer/kernel_parts.hpp"

namespace weft {
namespace {

using Kernels = std::vector<Kernel>;

void append(Kernels& kernels, const Kernels& more) { kernels.insert(kernels.end(), more.begin(), more.end()); }

// Flash attention (Dao et al. 2022, 2205.14135): two products forward, five backward (the scores again, then the
// gradients of values, scores, queries and keys) where FLOPs are counted as four; the masked half is skipped.
constexpr double flash_forward_executed = 0.5;
constexpr double flash_backward_executed = 0.5 * 5.0 / 4.0;

Kernel flash_attention(std::string_view name, const Transformer& model, const ShardSizes& size, double products,
                       double moved, double executed) {
    Kernel kernel = memory_kernel(name, moved, size.element_bytes);
    kernel.kind = KernelKind::attention;
    kernel.flops = {products * 2.0 * size.scores * model.head_size};
    kernel.executed = executed;
    return kernel;
}

Kernels core_forward(const Transformer& model, const Shard& shard, const ShardSizes& size) {
    const double e = size.element_bytes, s = shard.sequence, d = model.head_size;
    if (shard.attention == AttentionCore::flash) {
        const double moved = size.tokens * (size.qkv + size.queries);
        return {flash_attention("attention core", model, size, 2.0, moved, flash_forward_executed)};
    }
    return {gemm_kernel("scores", s, s, d, e, size.heads), memory_kernel("softmax", 2.0 * size.scores, e),
            gemm_kernel("context", s, d, s, e, size.heads)};
}

Kernels core_backward(const Transformer& model, const Shard& shard, const ShardSizes& size) {
    const double e = size.element_bytes, s = shard.sequence, d = model.head_size;
    if (shard.attention == AttentionCore::flash) {
        const double moved = size.tokens * 2.0 * (size.qkv + size.queries);  // each and its gradient
        return {flash_attention("attention core gradient", model, size, 4.0, moved, flash_backward_executed)};
    }
    return {gemm_kernel("context weight gradient", s, d, s, e, size.heads),  // of the values
            gemm_kernel("context input gradient", s, s, d, e, size.heads),   // of the probabilities
            memory_kernel("softmax gradient", 3.0 * size.scores, e),
            gemm_kernel("scores input gradient", s, d, s, e, size.heads),    // of the queries
            gemm_kernel("scores weight gradient", s, d, s, e, size.heads)};  // of the keys
}

Kernels mlp_activation(const Transformer& model, const ShardSizes& size) {
    return {
        memory_kernel(model.gated ? "swiglu" : "gelu", size.tokens * (size.ffn_inputs + size.ffn), size.element_bytes)};
}

Kernels mlp_activation_gradient(const Transformer& model, const ShardSizes& size) {
    return {memory_kernel(model.gated ? "swiglu gradient" : "gelu gradient",
                          size.tokens * (2.0 * size.ffn_inputs + size.ffn), size.element_bytes)};
}

struct LinearNames {
    std::string_view input_gradient, weight_gradient, bias_gradient;
};
constexpr LinearNames qkv_names{"qkv input gradient", "qkv weight gradient", "qkv bias gradient"};
constexpr LinearNames dense_names{"dense input gradient", "dense weight gradient", "dense bias gradient"};
constexpr LinearNames up_names{"h_to_4h input gradient", "h_to_4h weight gradient", "h_to_4h bias gradient"};
constexpr LinearNames down_names{"4h_to_h input gradient", "4h_to_h weight gradient", "4h_to_h bias gradient"};

Kernels linear_backward(const LinearNames& names, const Transformer& model, const ShardSizes& size, double inputs,
                        double outputs) {
    const double e = size.element_bytes;
    Kernels kernels{gemm_kernel(names.input_gradient, size.tokens, inputs, outputs, e),
                    gemm_kernel(names.weight_gradient, outputs, inputs, size.tokens, e)};
    if (model.biases) kernels.push_back(memory_kernel(names.bias_gradient, size.tokens * outputs, e));
    return kernels;
}

Kernels attention_backward(const Transformer& model, const Shard& shard, const ShardSizes& size) {
    const double e = size.element_bytes;
    Kernels kernels = linear_backward(dense_names, model, size, size.queries, size.hidden);
    append(kernels, core_backward(model, shard, size));
    if (model.positions == Positions::rotary) {
        kernels.push_back(memory_kernel("rotary gradient", 2.0 * size.tokens * size.rotated, e));
    }
    append(kernels, linear_backward(qkv_names, model, size, size.hidden, size.qkv));
    kernels.push_back(memory_kernel("input norm gradient", 3.0 * size.own_state, e));
    // The gradient that came past the block is added; with parallel residuals both blocks' at once.
    const double addends = model.parallel_residual ? 3.0 : 2.0;
    kernels.push_back(memory_kernel("attention residual gradient", (addends + 1.0) * size.own_state, e));
    return kernels;
}

Kernels mlp_backward(const Transformer& model, const ShardSizes& size) {
    const double e = size.element_bytes;
    Kernels kernels = linear_backward(down_names, model, size, size.ffn, size.hidden);
    append(kernels, mlp_activation_gradient(model, size));
    append(kernels, linear_backward(up_names, model, size, size.hidden, size.ffn_inputs));
    kernels.push_back(memory_kernel("post-attention norm gradient", 3.0 * size.own_state, e));
    if (!model.parallel_residual) {
        kernels.push_back(memory_kernel("mlp residual gradient", 3.0 * size.own_state, e));
    }
    return kernels;
}

}  // namespace

LayerKernels layer_forward(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    const double e = size.element_bytes;
    LayerKernels layer;
    layer.attention_core = core_forward(model, shard, size);

    Kernels& attention = layer.attention;
    attention.push_back(memory_kernel("input norm", 2.0 * size.own_state, e));
    attention.push_back(gemm_kernel("qkv", size.tokens, size.qkv, size.hidden, e));
    if (model.positions == Positions::rotary) {
        attention.push_back(memory_kernel("rotary", 2.0 * size.tokens * size.rotated, e));
    }
    append(attention, layer.attention_core);
    attention.push_back(gemm_kernel("dense", size.tokens, size.hidden, size.queries, e));
    if (!model.parallel_residual) {
        attention.push_back(memory_kernel("attention residual", 3.0 * size.own_state, e));
    }

    Kernels& mlp = layer.mlp;
    mlp.push_back(memory_kernel("post-attention norm", 2.0 * size.own_state, e));
    mlp.push_back(gemm_kernel("h_to_4h", size.tokens, size.ffn_inputs, size.hidden, e));
    append(mlp, mlp_activation(model, size));
    mlp.push_back(gemm_kernel("4h_to_h", size.tokens, size.hidden, size.ffn, e));
    const double addends = model.parallel_residual ? 3.0 : 2.0;
    mlp.push_back(memory_kernel("mlp residual", (addends + 1.0) * size.own_state, e));
    return layer;
}

LayerKernels layer_backward(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    return {
        .attention = attention_backward(model, shard, size), .attention_core = {}, .mlp = mlp_backward(model, size)};
}

}  // namespace weft
