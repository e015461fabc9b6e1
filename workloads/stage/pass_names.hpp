// What the passes of layers and of their parts are called in traces and timelines: layers of another mixer than
// attention, of an encoder and of a teacher otherwise than the model's own.
#pragma once

#include <array>
#include <string_view>

#include "models/transformer/layer.hpp"

namespace weft {

struct PassNames {
    std::string_view forward, recompute, backward;
};

namespace pass_names {
inline constexpr PassNames attention{"forward attention", "recompute attention", "backward attention"};
inline constexpr PassNames mlp{"forward MLP", "recompute MLP", "backward MLP"};
inline constexpr PassNames experts{"forward experts", "recompute experts", "backward experts"};
inline constexpr PassNames layer{"forward layer", "recompute layer", "backward layer"};
inline constexpr PassNames encoder{"forward encoder layer", "recompute encoder layer", "backward encoder layer"};
inline constexpr PassNames teacher{"forward teacher layer", {}, {}};
// By Mixer, from mamba2 on.
inline constexpr std::array recurrent{
    PassNames{"forward Mamba-2 layer", "recompute Mamba-2 layer", "backward Mamba-2 layer"},
    PassNames{"forward DeltaNet layer", "recompute DeltaNet layer", "backward DeltaNet layer"},
    PassNames{"forward Kimi Delta layer", "recompute Kimi Delta layer", "backward Kimi Delta layer"},
    PassNames{"forward lightning layer", "recompute lightning layer", "backward lightning layer"}};
}  // namespace pass_names

// Of a whole layer.
constexpr const PassNames& names_of(const Layer& layer) {
    if (layer.of == LayerOf::encoder) return pass_names::encoder;
    if (layer.of == LayerOf::teacher) return pass_names::teacher;
    if (!is_recurrent(layer.mixer)) return pass_names::layer;
    return pass_names::recurrent[static_cast<std::size_t>(layer.mixer) - static_cast<std::size_t>(Mixer::mamba2)];
}

// Whether a pass is one of a recurrent layer.
constexpr bool names_recurrence(std::string_view label) {
    for (const PassNames& names : pass_names::recurrent) {
        if (label == names.forward || label == names.recompute || label == names.backward) return true;
    }
    return false;
}

}  // namespace weft
