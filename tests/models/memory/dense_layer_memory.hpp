// What a dense layer keeps and needs, for tests.
#pragma once

#include "models/memory/memory.hpp"

namespace weft::testing {

inline Bytes layer_activations(const Transformer& model, const Shard& shard, Recompute recompute) {
    return weft::layer_activations(model, LayerKind::dense, shard, {.recompute = recompute});
}
inline Bytes layer_workspace(const Transformer& model, const Shard& shard, Recompute recompute) {
    return weft::layer_workspace(model, LayerKind::dense, shard, {.recompute = recompute});
}

}  // namespace weft::testing
