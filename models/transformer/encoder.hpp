// What stands before and after the layers of an encoder (Transformer::encoder): the map of patches, class tokens, a
// table of positions and norms around its layers, as module "patch embedding"; and the projectors, as "projector".
// Whole on every tensor rank (Megatron-core models/vision/clip_vit_model.py, conv1; its projector's cut is left out).
//
// Of b sequences with i images of n patches each, of p elements, in hidden size v, to the model's h:
//   patches      b i n rows      p -> v
//   projector    b i n / (merge pool) rows    merge v -> inner -> ... -> h, (1 + deep) times
#pragma once

#include <vector>

#include "models/transformer/kernels.hpp"

namespace weft {

inline const Layer& layer_of_encoder(const Transformer& model) { return model.kinds.back().layer; }
struct ProjectorMap {
    std::uint64_t inputs, outputs;
};
std::vector<ProjectorMap> projector_maps(const Transformer& model);  // of one projector, in order

std::vector<Module> encoder_modules(const Transformer& model, const LayerSplit& split);
// Of a teacher, frozen, as one module: what stands before its layers, or after them. None: nothing.
std::vector<Module> teacher_module(const Transformer& model, const LayerSplit& split, bool before);

// Of one micro-batch: all that is no layer. Backward nothing where both parts are frozen.
std::vector<Kernel> encoder_ends_forward(const Transformer& model, const Shard& shard);
std::vector<Kernel> encoder_ends_backward(const Transformer& model, const Shard& shard);
Bytes encoder_ends_activations(const Transformer& model, const Shard& shard);

// Matrix products of forward and backward, of the encoder whole, as far as its parts are trained.
Flops encoder_flops(const Transformer& model, double sequences, const Trained& trained);

}  // namespace weft
