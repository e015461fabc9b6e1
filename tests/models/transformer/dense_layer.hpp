// A dense layer in two halves, from its pieces.
#pragma once

#include <algorithm>
#include <vector>

#include "models/transformer/kernels.hpp"

namespace weft::testing {

struct LayerKernels {
    std::vector<Kernel> attention;       // norm, QKV, core, projection, residual
    std::vector<Kernel> attention_core;  // the part of `attention` that selective recomputation repeats
    std::vector<Kernel> mlp;
};

inline void append(std::vector<Kernel>& kernels, const std::vector<Kernel>& more) {
    kernels.insert(kernels.end(), more.begin(), more.end());
}

inline std::vector<LayerPiece> dense_pieces(const Transformer& model, const Shard& shard) {
    return layer_pieces(model, LayerKind::dense, shard);
}

inline LayerKernels layer_forward(const Transformer& model, const Shard& shard) {
    LayerKernels layer;
    for (const LayerPiece& piece : dense_pieces(model, shard)) {
        append(piece.piece < Piece::post_norm ? layer.attention : layer.mlp, piece.forward);
        if (piece.piece == Piece::core) layer.attention_core = piece.forward;
    }
    // The residual addition of attention is in post_norm, and closes the first half.
    if (!model.parallel_residual) {
        const auto sum = std::ranges::find(layer.mlp, "attention residual", &Kernel::name);
        layer.attention.insert(layer.attention.end(), layer.mlp.begin(), sum + 1);
        layer.mlp.erase(layer.mlp.begin(), sum + 1);
    }
    return layer;
}

inline LayerKernels layer_backward(const Transformer& model, const Shard& shard) {
    std::vector<LayerPiece> pieces = dense_pieces(model, shard);
    std::reverse(pieces.begin(), pieces.end());
    LayerKernels layer;
    for (const LayerPiece& piece : pieces) {
        std::vector<Kernel>& half = piece.piece < Piece::post_norm ? layer.attention : layer.mlp;
        append(half, piece.input_backward);
        append(half, piece.weight_backward);
    }
    return layer;
}

}  // namespace weft::testing
