// Recurrent mixers: Mamba-2 (Dao and Gu, 2405.21060), gated DeltaNet (Yang et al., 2412.06464), Kimi Delta Attention
// (2510.26692) and lightning attention (MiniMax-01, 2501.08313). Each maps the hidden state to queries, keys, values
// and gates, passes them through a short causal convolution (but for lightning attention), and lets every head update
// a state of key_size x value_size token by token. Training works on chunks of c tokens: products within a chunk, and
// of chunks with states.
#pragma once

#include <cstdint>
#include <vector>

#include "models/memory/memory.hpp"
#include "models/transformer/kernel_parts.hpp"
#include "models/transformer/transformer.hpp"

namespace weft {

// Elements per token of keys (as of queries: Mamba-2's B and C) and of values, whole.
constexpr std::uint64_t recurrent_keys(const Recurrence& shape) {
    return std::uint64_t{shape.key_heads} * shape.key_size;
}
constexpr std::uint64_t recurrent_values(const Recurrence& shape) {
    return std::uint64_t{shape.heads} * shape.value_size;
}

// Maps of the hidden state: outputs are cut over tensor ranks but where `whole`.
struct RecurrentMap {
    MapNames names;
    std::uint64_t inputs, outputs;
    bool whole = false;

    double outputs_on(double tensor) const { return static_cast<double>(outputs) / (whole ? 1.0 : tensor); }
};
std::vector<RecurrentMap> recurrent_maps(const Layer& layer);
// Outputs of all of them per token, whole: what the recurrence reads.
std::uint64_t recurrent_inputs(const Layer& layer);
std::uint64_t recurrent_matrices(const Layer& layer);  // elements of the maps

// The module "qkv": maps, convolution, and the parameters of gates, decays and the norm of what comes out.
Module recurrent_module(const Layer& layer, std::uint32_t tensor);

// FLOPs per token of the products forward; those of maps are in recurrent_maps.
double recurrent_flops(const Layer& layer);

// In place of qkv and core of an attention layer.
LayerPiece recurrent_maps_piece(const Layer& layer, const Shard& shard);
LayerPiece recurrent_core_piece(const Layer& layer, const Shard& shard);

// Elements per token that backward needs besides the input of the maps and of the projection, on one tensor rank.
std::vector<SavedTensor> recurrent_saved(const Layer& layer, const Shard& shard);

}  // namespace weft
