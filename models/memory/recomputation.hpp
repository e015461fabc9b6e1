// What backward computes again instead of what forward would have kept for it.
#pragma once

#include <compare>
#include <cstdint>

#include "sim/base/enum_set.hpp"

namespace weft {

// Of a layer: nothing, some of its parts, all that follows from its input, or that but for the results of some of its
// operations (KeptProduct).
enum class Recompute : std::uint8_t { none, selective, full, operations };

// Whether a layer runs forward again, as a whole, before it runs backward.
constexpr bool runs_again(Recompute recompute) { return recompute >= Recompute::full; }

// What a layer computes again by itself. Megatron-core (transformer/transformer_config.py, recompute_modules) runs
// `core`, `mlp`, `experts` (router, dispatch, experts, shared experts) and `shared_experts` as checkpoints, which keep
// their inputs, and their outputs as what comes next wants them. Of the others it gives back the output alone, whose
// maker's input is there anyhow (tensor_parallel/random.py, CheckpointWithoutOutput): norms that are modules of their
// own, latent attention's maps up with their norms and rotation, and the experts' activation function.
enum class LayerPart : std::uint8_t {
    core,
    input_norm,
    mlp_norm,
    latent_up,
    mlp,
    experts,
    expert_activation,
    shared_experts,
};

using LayerParts = EnumSet<LayerPart>;

// Which layers of a model part are recomputed in full, `n` given:
//   uniform  all, in groups of n: of a group its first layer's input is kept, and backward runs all of it forward first
//   block    the first n
//   every    each n-th
enum class RecomputeMethod : std::uint8_t { uniform, block, every };

struct Recomputation {
    Recompute granularity = Recompute::none;
    LayerParts parts{LayerPart::core};                  // under `selective`
    RecomputeMethod method = RecomputeMethod::uniform;  // under `full`
    std::uint32_t layers = 1;                           // n of the method

    // NOLINTNEXTLINE(google-explicit-constructor): `recompute = full` says what it means
    constexpr Recomputation(Recompute word = Recompute::none) : granularity(word) {}

    // Of a layer of a model part, counted from 0.
    constexpr Recompute of_layer(std::uint32_t index) const {
        if (granularity != Recompute::full || method == RecomputeMethod::uniform) return granularity;
        const bool chosen = method == RecomputeMethod::block ? index < layers : (index + 1) % layers == 0;
        return chosen ? Recompute::full : Recompute::none;
    }
    constexpr std::uint32_t group() const { return method == RecomputeMethod::uniform ? layers : 1; }

    auto operator<=>(const Recomputation&) const = default;
};

}  // namespace weft
