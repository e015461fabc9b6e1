// Passes over memory that a program without fused kernels makes on top of those that layer_pieces counts, kernel by
// kernel; and the two that ALiBi costs attention that is not fused.
//
// GPT-NeoX (commit e48b0c45, megatron/model): rotary embedding in bf16 is PyTorch's own kernels
// (positional_embeddings.py, apply_rotary_pos_emb_torch), and the bias of a block's output is added on its own
// (bias_dropout_fusion is off by default; fused_bias_dropout.py, bias_dropout_add).
// Megatron-DeepSpeed and GPT-NeoX: ALiBi's slopes are baddbmm's first operand (megatron/model/transformer.py). PyTorch
// copies them to every score before the product (aten/src/ATen/native/cuda/Blas.cpp, baddbmm_out_cuda_impl), which then
// reads what it adds to.
#include <algorithm>

#include "models/transformer/kernel_parts.hpp"

namespace weft {
namespace {

constexpr double fused_rotary_passes = 2.0;  // of them, in the fused count

LayerPiece* find(std::vector<LayerPiece>& pieces, Piece which) {
    const auto found = std::ranges::find(pieces, which, &LayerPiece::piece);
    return found == pieces.end() ? nullptr : &*found;
}

void add_rotary(LayerPiece& qkv, const ShardSizes& size) {
    const double rotated = size.tokens * size.rotated;
    qkv.forward.push_back(
        memory_kernel("unfused rotary", (rotary_passes - fused_rotary_passes) * rotated, size.element_bytes));
    qkv.input_backward.insert(
        qkv.input_backward.begin(),
        memory_kernel("unfused rotary gradient", (rotary_gradient_passes - fused_rotary_passes) * rotated,
                      size.element_bytes));
}

// The sum of output and bias is written, and read again for the residual; its gradient moves nothing.
void add_bias(LayerPiece& piece, const ShardSizes& size, std::string_view name) {
    piece.forward.insert(piece.forward.begin(), memory_kernel(name, 2.0 * size.own_state, size.element_bytes));
}

void add_alibi(LayerPiece& core, const ShardSizes& size) {
    core.forward.insert(core.forward.begin(), memory_kernel("alibi", 2.0 * size.scores, size.element_bytes));
}

}  // namespace

void add_unfused_passes(std::vector<LayerPiece>& pieces, const Transformer& model, LayerKind kind, const Shard& shard) {
    const ShardSizes size(model, shard);
    const bool alibi = model.mixer == Mixer::attention && model.positions == Positions::alibi;
    if (alibi && shard.attention == AttentionCore::unfused) {
        add_alibi(*find(pieces, Piece::core), size);
    }
    if (shard.element_wise == ElementWise::fused) return;
    if (rotates(model, kind)) add_rotary(*find(pieces, Piece::qkv), size);
    LayerPiece* const post_norm = model.parallel_residual ? nullptr : find(pieces, Piece::post_norm);
    LayerPiece& last = *find(pieces, Piece::residual);
    if (model.biases.projection && find(pieces, Piece::projection) != nullptr) {
        add_bias(post_norm != nullptr ? *post_norm : last, size, "attention bias");
    }
    const bool mlp = find(pieces, Piece::mlp_down) != nullptr, routes = find(pieces, Piece::router) != nullptr;
    if ((mlp && model.biases.mlp) || (routes && model.biases.experts)) {
        add_bias(last, size, "mlp bias");
    }
}

}  // namespace weft
