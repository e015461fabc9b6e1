// The building bricks of kernel lists: one kernel each, from its shape.
#pragma once

#include <string_view>
#include <vector>

#include "models/transformer/kernels.hpp"

namespace weft {

// C (m x n) = A (m x k) B (k x n), `count` independent ones in one launch: 2mnk FLOPs and each matrix moved once.
Kernel gemm_kernel(std::string_view name, double m, double n, double k, double element_bytes, double count = 1.0);

// Moves `elements` elements, all reads and writes together.
Kernel memory_kernel(std::string_view name, double elements, double element_bytes);

// One pass of dropout over `elements`: reads and writes them, and writes (backward: reads) a mask of one byte each.
Kernel dropout_kernel(std::string_view name, double elements, double element_bytes);
constexpr double bytes_of_mask = 1.0;  // of dropout, per element

LayerPiece piece_of(Piece piece, std::string_view module);  // without kernels yet

// A linear map's names and shape: (rows x inputs) (inputs x outputs), `count` of them in one launch.
struct Linear {
    std::string_view forward, input_gradient, weight_gradient;
    std::string_view bias_gradient;
    bool biased;
    double rows, inputs, outputs, count = 1.0;
};
// One product forward and two backward, and the sum of a bias gradient.
void add_linear(LayerPiece& piece, const Linear& linear, double element_bytes);
// The activation function after a first map: bias and GELU, or SwiGLU. Its gradient comes before add_linear's.
Kernel activation(const Transformer& model, double rows, double inputs, double outputs, double element_bytes);
Kernel activation_gradient(const Transformer& model, double rows, double inputs, double outputs, double element_bytes);

// Where operands are cast: adds the casts and transposes of a finished piece's products, and narrows their operands.
void add_casts(LayerPiece& piece, const Transformer& model, const Shard& shard);

// The pieces that take the place of mlp_up and mlp_down in a layer with experts.
std::vector<LayerPiece> expert_pieces(const Transformer& model, const Shard& shard);
LayerPiece core_piece(const Transformer& model, LayerKind kind, const Shard& shard);
LayerPiece latent_piece(const Transformer& model, const Shard& shard);  // Piece::qkv of multi-head latent attention
// What a program without fused kernels does besides (Shard::element_wise), and ALiBi's part of unfused attention.
void add_unfused_passes(std::vector<LayerPiece>& pieces, const Transformer& model, LayerKind kind, const Shard& shard);

// The sizes that every list is made of, for one rank.
struct ShardSizes {
    ShardSizes(const Transformer& model, const Shard& shard);

    double tokens;        // b s / context
    double hidden;        // h
    double hidden_state;  // elements of the activation between the blocks, whole
    double own_state;     // of which this rank normalises and adds its share: all, or 1/t with sequence parallelism
    double qkv;           // queries, keys and values that the attention core takes, on this rank
    double queries;       // of which queries
    double rotated;       // queries and keys, or their rotary parts
    double context;       // what the core returns, the projection's inputs
    double ffn_inputs;    // outputs of the MLP's first map (both halves of a gated one)
    double ffn;           // inputs of its second
    double scores;        // elements of the attention score matrices: b a s^2 / (t context)
    double heads;         // matrices of scores: b a / t
    double element_bytes;
    double mask_bytes;  // per element of what is dropped out: 0 without dropout
};

// Sizes of the experts of a layer, for one rank; see Shard.
struct ExpertSizes {
    ExpertSizes(const Transformer& model, const Shard& shard);

    double routed;                     // tokens that this rank's router scores
    double dispatched;                 // rows that this rank sends to experts: each token top_k times
    double local;                      // experts on this rank
    double rows;                       // of each
    double arriving;                   // rows that come from other ranks, before copies for local experts are made
    double inputs;                     // outputs of an expert's first map, on this rank
    double ffn;                        // inputs of its second
    double shared_inputs, shared_ffn;  // of the shared experts together

    double received() const { return local * rows; }
};

}  // namespace weft
