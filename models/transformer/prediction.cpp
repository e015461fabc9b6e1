#include "models/transformer/prediction.hpp"

#include "models/transformer/kernel_parts.hpp"
#include "sim/base/check.hpp"

namespace weft {

// Norms as the final one.
Module prediction_output_norm(const Transformer& model) {
    Module norm = head_modules(model, {}).front();
    norm.name = "prediction output norm";
    return norm;
}

std::vector<Module> prediction_modules(const Transformer& model, const LayerSplit& split) {
    Module norms = prediction_output_norm(model);
    norms.name = "prediction input norm";
    const std::vector<std::uint64_t> one = norms.tensors;
    norms.tensors.insert(norms.tensors.end(), one.begin(), one.end());
    norms.vector.resize(norms.tensors.size(), true);
    const std::uint64_t elements = std::uint64_t{2} * model.hidden * model.hidden;
    WEFT_CHECK(elements % split.tensor == 0, "tensor ranks do not divide the map of a prediction module");
    return {std::move(norms), {.name = "prediction map", .tensors = {elements / split.tensor}, .vector = {false}}};
}

std::uint64_t prediction_parameters(const Transformer& model, const LayerSplit& split) {
    std::uint64_t sum = layer_parameters(model, layer_kind(model, model.layers), split);
    for (const Module& module : prediction_modules(model, split)) sum += module_parameters(module);
    return sum + module_parameters(prediction_output_norm(model));
}

PredictionKernels prediction_kernels(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    const double e = size.element_bytes, inputs = 2.0 * size.hidden, outputs = size.hidden / shard.tensor;
    PredictionKernels kernels;
    kernels.forward = {memory_kernel("prediction norms", 4.0 * size.own_state, e),
                       memory_kernel("prediction concatenation", 4.0 * size.own_state, e),
                       gemm_kernel("prediction map", size.tokens, outputs, inputs, e)};
    kernels.input_backward = {gemm_kernel("prediction map input gradient", size.tokens, inputs, outputs, e),
                              memory_kernel("prediction norms gradient", 6.0 * size.own_state, e)};
    kernels.weight_backward = {gemm_kernel("prediction map weight gradient", outputs, inputs, size.tokens, e)};
    return kernels;
}

Bytes prediction_activations(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    return {5.0 * size.own_state * size.element_bytes};
}

}  // namespace weft
