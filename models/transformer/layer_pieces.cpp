// One transformer layer, piece by piece. Element-wise kernels are counted as they are usually fused: bias into GELU,
// bias and dropout into the residual addition, scaling and mask into the softmax. Backward, dropout is a pass of its
// own.
#include "models/transformer/kernel_parts.hpp"

namespace weft {
namespace {

// Of one norm of the hidden state, this rank's share.
Kernel norm(std::string_view name, const ShardSizes& size) {
    return memory_kernel(name, 2.0 * size.own_state, size.element_bytes);
}
Kernel norm_gradient(std::string_view name, const ShardSizes& size) {
    return memory_kernel(name, 3.0 * size.own_state, size.element_bytes);
}

bool norms_inputs(const Transformer& model) { return model.norm_placement != NormPlacement::post; }
bool norms_outputs(const Transformer& model) { return model.norm_placement >= NormPlacement::post; }

LayerPiece input_norm(const Transformer& model, const ShardSizes& size) {
    LayerPiece piece = piece_of(Piece::input_norm, {});
    if (norms_inputs(model)) {
        piece.module = "input norm";
        piece.forward = {norm("input norm", size)};
        piece.input_backward = {norm_gradient("input norm gradient", size)};
    }
    // The gradient that came past the block is added; with parallel residuals both blocks' at once.
    const double addends = model.parallel_residual ? 3.0 : 2.0;
    piece.input_backward.push_back(
        memory_kernel("attention residual gradient", (addends + 1.0) * size.own_state, size.element_bytes));
    return piece;
}

// Llama 4's norm without weights belongs to its rotation (transformers modeling_llama4.py, Llama4TextAttention).
bool norms_queries(const Transformer& model, LayerKind kind) {
    if (model.query_key_norm == QueryKeyNorm::unweighted && model.positions == Positions::rotary) {
        return rotates(model, kind);
    }
    return model.query_key_norm != QueryKeyNorm::none;
}

LayerPiece qkv(const Transformer& model, LayerKind kind, const Shard& shard, const ShardSizes& size) {
    const double e = size.element_bytes, rotated = 2.0 * size.tokens * size.rotated;
    const bool rotary = rotates(model, kind), norms = norms_queries(model, kind);
    LayerPiece piece = piece_of(Piece::qkv, "qkv");
    const double normed =
        norms ? 2.0 * size.tokens * static_cast<double>(query_width(model) + key_width(model)) / shard.tensor : 0.0;
    if (rotary) piece.input_backward = {memory_kernel("rotary gradient", rotated, e)};
    if (normed > 0) {
        piece.input_backward.push_back(memory_kernel("query and key norm gradient", 1.5 * normed, e));
    }
    add_linear(piece,
               {.forward = "qkv",
                .input_gradient = "qkv input gradient",
                .weight_gradient = "qkv weight gradient",
                .bias_gradient = "qkv bias gradient",
                .biased = model.biases.qkv,
                .rows = size.tokens,
                .inputs = size.hidden,
                .outputs = size.qkv},
               e);
    if (normed > 0) piece.forward.push_back(memory_kernel("query and key norm", normed, e));
    if (rotary) piece.forward.push_back(memory_kernel("rotary", rotated, e));
    return piece;
}

LayerPiece projection(const Transformer& model, const ShardSizes& size) {
    LayerPiece piece = piece_of(Piece::projection, "dense");
    add_linear(piece,
               {.forward = "dense",
                .input_gradient = "dense input gradient",
                .weight_gradient = "dense weight gradient",
                .bias_gradient = "dense bias gradient",
                .biased = model.biases.projection,
                .rows = size.tokens,
                .inputs = size.context,
                .outputs = size.hidden},
               size.element_bytes);
    return piece;
}

// Around the addition of attention's output to the residual: the norm of that output, and the norm of the sum.
LayerPiece post_norm(const Transformer& model, const ShardSizes& size) {
    const double e = size.element_bytes;
    LayerPiece piece = piece_of(Piece::post_norm, "post-attention norm");
    if (model.norm_placement == NormPlacement::shared) {
        piece.module = {};
        return piece;
    }
    if (norms_outputs(model)) piece.forward = {norm("attention output norm", size)};
    if (!model.parallel_residual) {
        piece.forward.push_back(memory_kernel("attention residual", size.own_state, 3.0 * e + size.mask_bytes));
    }
    if (norms_inputs(model)) {
        piece.forward.push_back(norm("post-attention norm", size));
        piece.input_backward = {norm_gradient("post-attention norm gradient", size)};
    }
    if (model.parallel_residual) return piece;
    piece.input_backward.push_back(memory_kernel("mlp residual gradient", 3.0 * size.own_state, e));
    if (size.mask_bytes > 0) {
        piece.input_backward.push_back(dropout_kernel("attention output dropout gradient", size.own_state, e));
    }
    if (norms_outputs(model)) piece.input_backward.push_back(norm_gradient("attention output norm gradient", size));
    return piece;
}

LayerPiece mlp_up(const Transformer& model, const ShardSizes& size) {
    const double e = size.element_bytes;
    LayerPiece piece = piece_of(Piece::mlp_up, "h_to_4h");
    piece.input_backward = {activation_gradient(model, size.tokens, size.ffn_inputs, size.ffn, e)};
    add_linear(piece,
               {.forward = "h_to_4h",
                .input_gradient = "h_to_4h input gradient",
                .weight_gradient = "h_to_4h weight gradient",
                .bias_gradient = "h_to_4h bias gradient",
                .biased = model.biases.mlp,
                .rows = size.tokens,
                .inputs = size.hidden,
                .outputs = size.ffn_inputs},
               e);
    piece.forward.push_back(activation(model, size.tokens, size.ffn_inputs, size.ffn, e));
    return piece;
}

LayerPiece mlp_down(const Transformer& model, const ShardSizes& size) {
    LayerPiece piece = piece_of(Piece::mlp_down, "4h_to_h");
    add_linear(piece,
               {.forward = "4h_to_h",
                .input_gradient = "4h_to_h input gradient",
                .weight_gradient = "4h_to_h weight gradient",
                .bias_gradient = "4h_to_h bias gradient",
                .biased = model.biases.mlp,
                .rows = size.tokens,
                .inputs = size.ffn,
                .outputs = size.hidden},
               size.element_bytes);
    return piece;
}

// Backward it passes the gradient on, which the norms' pieces add. With parallel residuals both blocks' outputs are
// dropped out here.
LayerPiece residual(const Transformer& model, const ShardSizes& size) {
    const double e = size.element_bytes, blocks = model.parallel_residual ? 2.0 : 1.0;
    LayerPiece piece = piece_of(Piece::residual, {});
    if (norms_outputs(model)) {
        piece.module = "output norm";
        piece.forward = {norm("output norm", size)};
    }
    piece.forward.push_back(
        memory_kernel("mlp residual", size.own_state, (blocks + 2.0) * e + blocks * size.mask_bytes));
    if (size.mask_bytes > 0) {
        if (model.parallel_residual) {
            piece.input_backward = {dropout_kernel("attention output dropout gradient", size.own_state, e)};
        }
        piece.input_backward.push_back(dropout_kernel("mlp output dropout gradient", size.own_state, e));
    }
    if (norms_outputs(model)) piece.input_backward.push_back(norm_gradient("output norm gradient", size));
    return piece;
}

}  // namespace

std::vector<LayerPiece> layer_pieces(const Transformer& model, LayerKind kind, const Shard& shard) {
    const ShardSizes size(model, shard);
    std::vector<LayerPiece> pieces{
        input_norm(model, size),
        model.has_latent_attention() ? latent_piece(model, shard) : qkv(model, kind, shard, size),
        core_piece(model, kind, shard), projection(model, size), post_norm(model, size)};
    if (!has_experts(kind)) {
        pieces.push_back(mlp_up(model, size));
        pieces.push_back(mlp_down(model, size));
    } else {
        const std::vector<LayerPiece> experts = expert_pieces(model, shard);
        pieces.insert(pieces.end(), experts.begin(), experts.end());
    }
    pieces.push_back(residual(model, size));
    if (shard.casting != Casting::none) {
        for (LayerPiece& piece : pieces) add_casts(piece, model, shard);
    }
    add_unfused_passes(pieces, model, kind, shard);
    return pieces;
}

}  // namespace weft
