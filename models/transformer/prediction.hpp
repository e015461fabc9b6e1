// Multi-token prediction (DeepSeek-V3, 2412.19437, section 2.2). After the layers follow Transformer::mtp_layers
// modules, one for each further token. Each norms the embedding of the token that its predecessor predicts and the
// hidden state that it gets, each with a norm of its own, maps both together (2 h to h, no bias) to the input of a
// transformer layer like the model's last, norms its output, and the model's output layer makes a second loss of it.
// Embedding and output layer are those of the model. As Megatron-core 0.12 to 0.19 has it
// (core/transformer/multi_token_prediction.py).
#pragma once

#include <vector>

#include "models/transformer/kernels.hpp"
#include "models/transformer/transformer.hpp"

namespace weft {

// Layers with those of prediction modules.
constexpr std::uint32_t all_layers(const Transformer& model) { return model.layers + model.mtp_layers; }
constexpr bool is_prediction(const Transformer& model, std::uint32_t layer) { return layer >= model.layers; }

// What a module registers before its layer, "prediction input norm" (both) and "prediction map", cut by its outputs;
// and after it: "prediction output norm".
std::vector<Module> prediction_modules(const Transformer& model, const LayerSplit& split);
Module prediction_output_norm(const Transformer& model);
// Of one module, its layer included.
std::uint64_t prediction_parameters(const Transformer& model, const LayerSplit& split);

// What makes the layer's input out of an embedding and a hidden state.
struct PredictionKernels {
    std::vector<Kernel> forward, input_backward, weight_backward;
};
PredictionKernels prediction_kernels(const Transformer& model, const Shard& shard);

// What a module keeps beside its layer and its share of the head: the inputs of its three norms and of its map, 5 s b h
// elements. (Megatron-core checkpoints the map with the layer under full recomputation and keeps 2 s b h less.)
Bytes prediction_activations(const Transformer& model, const Shard& shard);

}  // namespace weft
