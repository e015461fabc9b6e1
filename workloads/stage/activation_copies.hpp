// When activations go to the host and come back, as Transformer Engine spreads the copies of the first n of so many
// layers over all of them (pytorch/cpu_offload.py, AsyncDoubleBufferGroupOffloadHandler, layer_window_map):
//   forward    the copy of layer 0 starts when it has run; that of layer i + 1 when layer window(i) has, which waits
//              for the copy of layer i
//   backward   the copy of layer i starts before layer window(i) runs, which waits for that of layer i + 1
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft {

constexpr std::uint32_t copy_window(std::uint32_t layers, std::uint32_t copied, std::uint32_t i) {
    return layers / copied * (i + 1) - 1 + std::min(i + 1, layers % copied);
}

}  // namespace weft
