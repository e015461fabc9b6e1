// What stands before and after the layers: embedding, final norm, output layer, cross entropy.
#include "models/transformer/encoder.hpp"
#include "models/transformer/kernel_parts.hpp"
#include "models/transformer/recipes.hpp"

namespace weft {
namespace {

// The unfused vocabulary-parallel cross entropy of Megatron-LM and GPT-NeoX works on fp32 logits. Bytes per logit:
// forward: conversion (e + 4), maximum (4), subtraction (8), exponential (8), sum (4), division (8);
// backward: scaling in place (8), conversion (4 + e).
// The fused one, and what the compiler makes of PyTorch's, reads logits once for maximum and sum and once more to write
// the gradient over them; backward scales it. PyTorch's own are taken to move what the unfused one moves, and so is one
// that keeps logits apart, which is too much: steps of validation set llm-foundry, which are too short already, would
// be 5 % shorter.
bool fuses_loss(const Shard& shard) {
    return shard.cross_entropy == CrossEntropy::fused || shard.compile == Compile::all;
}
double loss_forward_bytes(const Shard& shard) {
    const double e = shard.element_bytes;
    return fuses_loss(shard) ? 3.0 * e : e + 36.0;
}
double loss_backward_bytes(const Shard& shard) {
    const double e = shard.element_bytes;
    return fuses_loss(shard) ? 2.0 * e : e + 12.0;
}

// A product of the output layer: narrow operands, where they are, and a result of 16 bits.
Kernel output_product(std::string_view name, double m, double n, double k, const Shard& shard) {
    Kernel gemm = gemm_kernel(name, m, n, k, shard.element_bytes);
    if (!shard.narrow_output) return gemm;
    gemm.parameters = true;
    narrow(gemm, recipe_of(shard.casting).bytes);
    return gemm;
}

// Casts both ways that the products want what is cast (casts.cpp, of what no norm or activation casts as it writes).
void cast_for_output(std::vector<Kernel>& kernels, std::string_view name, double elements, const Shard& shard) {
    if (!shard.narrow_output) return;
    kernels.push_back(memory_kernel(name, elements, shard.element_bytes + 2.0 * recipe_of(shard.casting).bytes));
}

// PyTorch's own loss, one kernel after another.
bool loses_eagerly(const Shard& shard) { return is_eager(shard) && !keeps_logits(shard.cross_entropy); }

// A teacher has the same at its ends. Its loss, a softmax whose logarithm the model's is weighed by, is taken to read
// and write what the model's does.
std::vector<Kernel> with_teacher(std::vector<Kernel> kernels, const Transformer& model, const Shard& shard,
                                 std::vector<Kernel> (*of)(const Transformer&, const Shard&)) {
    for (const Transformer& teacher : model.teacher) {
        for (Kernel& kernel : of(teacher, shard)) kernels.push_back(std::move(kernel));
    }
    return kernels;
}

}  // namespace

std::vector<Kernel> embedding_forward(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    std::vector<Kernel> kernels{memory_kernel("embedding", 2.0 * size.hidden_state, size.element_bytes)};
    if (model.positions == Positions::learned) {
        kernels.push_back(memory_kernel("position embedding", 2.0 * size.hidden_state, size.element_bytes));
    }
    if (model.embedding_norm) {
        kernels.push_back(memory_kernel("embedding norm", 2.0 * size.own_state, size.element_bytes));
    }
    if (size.mask_bytes > 0) {
        kernels.push_back(dropout_kernel("embedding dropout", size.own_state, size.element_bytes));
    }
    for (Kernel& kernel : encoder_ends_forward(model, shard)) kernels.push_back(std::move(kernel));
    return with_teacher(std::move(kernels), model, shard, embedding_forward);
}

// Rows are added into a gradient of the whole table, which is cleared first.
std::vector<Kernel> embedding_backward(const Transformer& model, const Shard& shard) {
    std::vector<Kernel> kernels = encoder_ends_backward(model, shard);
    if (!shard.trained.trains("embedding")) return kernels;
    const ShardSizes size(model, shard);
    const double table = vocabulary_share(model, shard) * size.hidden;
    if (size.mask_bytes > 0) {
        kernels.push_back(dropout_kernel("embedding dropout gradient", size.own_state, size.element_bytes));
    }
    if (model.embedding_norm) {
        kernels.push_back(memory_kernel("embedding norm gradient", 3.0 * size.own_state, size.element_bytes));
    }
    if (model.positions == Positions::learned) {
        kernels.push_back(memory_kernel("position embedding gradient", size.hidden_state, size.element_bytes));
    }
    kernels.push_back(memory_kernel("embedding gradient", 3.0 * size.hidden_state + table, size.element_bytes));
    return kernels;
}

std::vector<Kernel> head_forward(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    const double vocabulary = vocabulary_share(model, shard);
    std::vector<Kernel> kernels{memory_kernel("final norm", 2.0 * size.own_state, size.element_bytes)};
    cast_for_output(kernels, "cast logits input", size.hidden_state, shard);
    kernels.push_back(output_product("logits", size.tokens, vocabulary, size.hidden, shard));
    if (is_eager(shard)) kernels.front().pass = PassClass::norm;
    const std::vector<Kernel> loss =
        loses_eagerly(shard)
            ? eager_loss(size.tokens * vocabulary, size.element_bytes)
            : std::vector{memory_kernel("cross entropy", size.tokens * vocabulary, loss_forward_bytes(shard))};
    kernels.insert(kernels.end(), loss.begin(), loss.end());
    return with_teacher(std::move(kernels), model, shard, head_forward);
}

std::vector<Kernel> head_backward(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    const double e = size.element_bytes, vocabulary = vocabulary_share(model, shard);
    std::vector<Kernel> kernels = loses_eagerly(shard)
                                      ? eager_loss_gradient(size.tokens * vocabulary, e)
                                      : std::vector{memory_kernel("cross entropy gradient", size.tokens * vocabulary,
                                                                  loss_backward_bytes(shard))};
    cast_for_output(kernels, "cast logits gradient", size.tokens * vocabulary, shard);
    kernels.push_back(output_product("logits input gradient", size.tokens, size.hidden, vocabulary, shard));
    const bool trained = shard.trained.trains("output layer");
    if (trained)
        kernels.push_back(output_product("logits weight gradient", vocabulary, size.hidden, size.tokens, shard));
    if (trained && model.biases.head)
        kernels.push_back(memory_kernel("logits bias gradient", size.tokens * vocabulary, e));
    kernels.push_back(memory_kernel("final norm gradient", 3.0 * size.own_state, e));
    if (is_eager(shard)) {  // and its weight's, as in layers (eager_pieces.cpp)
        kernels.back().pass = PassClass::norm;
        kernels.back().bytes += Bytes{2.0 * size.own_state * e};
        kernels.back().launches = 2;
    }
    return kernels;
}

}  // namespace weft
