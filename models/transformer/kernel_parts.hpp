// The building bricks of kernel lists: one kernel each, from its shape.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/transformer/kernels.hpp"

namespace weft {

// C (m x n) = A (m x k) B (k x n), `count` independent ones in one launch: 2mnk FLOPs and each matrix moved once.
Kernel gemm_kernel(std::string_view name, double m, double n, double k, double element_bytes, double count = 1.0);

// Its operands of so many bytes per element, its result of 16 bits.
void narrow(Kernel& gemm, double bytes);

// Moves `elements` elements, all reads and writes together.
inline Kernel memory_kernel(std::string_view name, double elements, double element_bytes) {
    return {.name = name, .kind = KernelKind::memory, .flops = {}, .bytes = {elements * element_bytes}};
}

// One pass of dropout over `elements`: reads and writes them, and writes (backward: reads) a mask of one byte each.
constexpr double bytes_of_mask = 1.0;  // of dropout, per element
inline Kernel dropout_kernel(std::string_view name, double elements, double element_bytes) {
    return memory_kernel(name, elements, 2.0 * element_bytes + bytes_of_mask);
}

// Without kernels yet.
inline LayerPiece piece_of(Piece piece, std::string_view module) {
    return {.piece = piece, .module = module, .forward = {}, .input_backward = {}, .weight_backward = {}};
}

struct ShardSizes;

// A text that is known when the program is compiled.
template <std::size_t size>
struct Text {
    char letters[size];
    consteval Text(const char (&text)[size]) { std::copy_n(text, size, letters); }
};
template <Text first, Text second>
constexpr auto joined_text = [] {
    std::array<char, sizeof(first.letters) + sizeof(second.letters) - 1> both{};
    std::copy_n(second.letters, sizeof(second.letters),
                std::copy_n(first.letters, sizeof(first.letters) - 1, both.begin()));
    return both;
}();

// (rows x inputs) (inputs x outputs), `count` of them in one launch.
struct MapShape {
    double rows, inputs, outputs, count = 1.0;
};
struct MapNames {
    std::string_view forward, input_gradient, weight_gradient, bias_gradient;
};
void add_map(LayerPiece& piece, const MapNames& names, bool biased, const MapShape& shape, double element_bytes);
// A linear map "qkv": the product of that name forward, "qkv input gradient" and "qkv weight gradient" backward, and
// the sum of "qkv bias gradient".
template <Text name>
constexpr MapNames map_names{name.letters, joined_text<name, " input gradient">.data(),
                             joined_text<name, " weight gradient">.data(), joined_text<name, " bias gradient">.data()};
template <Text name>
void add_map(LayerPiece& piece, bool biased, const MapShape& shape, double element_bytes) {
    add_map(piece, map_names<name>, biased, shape, element_bytes);
}
// The activation function after a first map: bias and GELU, or SwiGLU. Its gradient comes before add_map's.
inline Kernel activation(const Transformer& model, double rows, double inputs, double outputs, double element_bytes) {
    return memory_kernel(model.gated ? "swiglu" : "gelu", rows * (inputs + outputs), element_bytes);
}
inline Kernel activation_gradient(const Transformer& model, double rows, double inputs, double outputs,
                                  double element_bytes) {
    return memory_kernel(model.gated ? "swiglu gradient" : "gelu gradient", rows * (2.0 * inputs + outputs),
                         element_bytes);
}

// Where operands are cast: adds the casts and transposes of a finished piece's products, and narrows their operands.
void add_casts(LayerPiece& piece, const Transformer& model, const Shard& shard);

// The pieces that take the place of mlp_up and mlp_down in a layer with experts.
std::vector<LayerPiece> expert_pieces(const Transformer& model, const Shard& shard);
LayerPiece latent_piece(const Transformer& model, const Shard& shard);  // in place of the maps of plain attention
void add_indexer_maps(LayerPiece& maps, const Transformer& model, const ShardSizes& size);
void add_indexer_scores(LayerPiece& core, const Transformer& model, const Shard& shard);
LayerPiece core_piece(const Transformer& model, LayerKind kind, const Shard& shard);
// What a program without fused kernels does besides (Shard::element_wise), and ALiBi's part of unfused attention.
void add_unfused_passes(std::vector<LayerPiece>& pieces, const Transformer& model, LayerKind kind, const Shard& shard);

// Widths of the queries and keys that one rank has, copies of keys among them.
double own_queries_and_keys(const Transformer& model, double tensor);

// Tokens of the vocabulary that one rank has.
inline double vocabulary_share(const Transformer& model, const Shard& shard) {
    return static_cast<double>(padded_vocabulary(model, shard.tensor)) / shard.tensor;
}

// Reads and writes of a rotated tensor where each operator of rotate_half's is a kernel, in units of it: x cos (2), -x
// of one half (1), both halves joined (2), times sin (2), sum (3); backward g cos (2), g sin (2), the negated half (1),
// each half spread over zeros (2 and 2), three gradients added up (6).
constexpr double rotary_passes = 10.0, rotary_gradient_passes = 15.0;

// Puts PyTorch's own kernels in the place of fused passes (Shard::modules), and its cross entropy.
void run_eagerly(std::vector<LayerPiece>& pieces, const Transformer& model, LayerKind kind, const Shard& shard);
std::vector<Kernel> eager_loss(double logits, double element_bytes);
std::vector<Kernel> eager_loss_gradient(double logits, double element_bytes);
inline bool is_eager(const Shard& shard) { return shard.modules != ModuleCode::framework; }
// Of what attention and MLP give, before it is added to what came past them.
inline bool norms_outputs(const Transformer& model) { return model.norm_placement >= NormPlacement::post; }
// Of modules whose operators are kernels: whether a norm is many of them (transformers' LlamaRMSNorm at any time).
inline bool norms_in_parts(const Transformer& model, ModuleCode modules, PyTorch pytorch) {
    return model.norm == Norm::rms_norm && (modules == ModuleCode::transformers || pytorch < PyTorch::v2_9);
}

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

// Over how many of the ranks, or nodes, that share the experts of a layer a token's experts lie.

// Expected number of the `units` (equal runs of experts, as ranks or nodes hold them) in which a token has at least one
// of its experts, every choice of them being as likely:
//   units (1 - C(E - E / units, k) / C(E, k))          E experts, k = top_k of them
// With experts in `groups`, of which a token's experts lie in `token_groups`, every choice of groups is as likely, too.
double expected_units(const Experts& experts, std::uint32_t units);

// Why expected_units() cannot say it: units and groups cut one another. Empty if it can.
std::string units_obstacle(const Experts& experts, std::uint32_t units);

// Sizes of the experts of a layer, for one rank; see Shard.
struct ExpertSizes {
    ExpertSizes(const Transformer& model, const Shard& shard);

    double routed;                     // tokens that this rank's router scores
    double dispatched;                 // rows that this rank sends to experts: each token top_k times
    double hidden;                     // inputs and outputs of an expert
    double local;                      // experts on this rank
    double rows;                       // of each
    double arriving;                   // rows that come from other ranks, before copies for local experts are made
    double inputs;                     // outputs of an expert's first map, on this rank
    double ffn;                        // inputs of its second
    double shared_inputs, shared_ffn;  // of the shared experts together

    double received() const { return local * rows; }
};

}  // namespace weft
