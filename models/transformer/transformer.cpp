#include "models/transformer/transformer.hpp"

#include <fmt/format.h>

#include <numeric>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// Elements of one of `ranks` equal shares.
std::uint64_t share(std::uint64_t elements, std::uint32_t ranks) {
    WEFT_CHECK(ranks > 0 && elements % ranks == 0, fmt::format("{} elements on {} tensor ranks", elements, ranks));
    return elements / ranks;
}

std::uint64_t norm_parameters(const Transformer& model) {
    return std::uint64_t{model.hidden} * (model.norm == Norm::layer_norm ? 2 : 1);
}

void add_norm(const Transformer& model, std::vector<std::uint64_t>& tensors) {
    tensors.push_back(model.hidden);
    if (model.norm == Norm::layer_norm) tensors.push_back(model.hidden);
}

std::uint64_t sum(const std::vector<std::uint64_t>& tensors) {
    return std::accumulate(tensors.begin(), tensors.end(), std::uint64_t{0});
}

}  // namespace

std::uint64_t query_width(const Transformer& model) { return std::uint64_t{model.heads} * model.head_size; }
std::uint64_t key_value_width(const Transformer& model) { return std::uint64_t{model.kv_heads} * model.head_size; }
std::uint64_t qkv_width(const Transformer& model) { return query_width(model) + 2 * key_value_width(model); }
std::uint64_t ffn_input_width(const Transformer& model) {
    return std::uint64_t{model.ffn_hidden} * (model.gated ? 2 : 1);
}

std::vector<std::string> tensor_obstacles(const Transformer& model, std::uint32_t tensor) {
    WEFT_CHECK(tensor > 0, "no tensor ranks");
    std::vector<std::string> obstacles;
    const auto check = [&](std::uint32_t count, std::string_view what) {
        if (count % tensor == 0) return;
        obstacles.push_back(fmt::format("{} {} cannot be shared by {} tensor ranks", count, what, tensor));
    };
    check(model.heads, "attention heads");
    if (model.kv_heads != model.heads) check(model.kv_heads, "key-value heads");
    check(model.ffn_hidden, "feed-forward units");
    return obstacles;
}

std::uint64_t padded_vocabulary(const Transformer& model, std::uint32_t tensor) {
    const std::uint64_t multiple = std::uint64_t{model.vocabulary_multiple} * tensor;
    return (model.vocabulary + multiple - 1) / multiple * multiple;
}

std::vector<std::uint64_t> layer_tensors(const Transformer& model, std::uint32_t tensor) {
    std::vector<std::uint64_t> tensors;
    const auto add_linear = [&](std::uint64_t inputs, std::uint64_t outputs) {
        tensors.push_back(inputs * outputs);
        if (model.biases) tensors.push_back(outputs);
    };
    const std::uint64_t hidden = model.hidden;
    add_norm(model, tensors);
    add_linear(hidden, share(qkv_width(model), tensor));
    add_linear(share(query_width(model), tensor), hidden);
    add_norm(model, tensors);
    add_linear(hidden, share(ffn_input_width(model), tensor));
    add_linear(share(model.ffn_hidden, tensor), hidden);
    return tensors;
}

std::uint64_t layer_parameters(const Transformer& model, std::uint32_t tensor) {
    return sum(layer_tensors(model, tensor));
}

std::vector<std::uint64_t> embedding_tensors(const Transformer& model, std::uint32_t tensor) {
    std::vector<std::uint64_t> tensors{share(padded_vocabulary(model, tensor), tensor) * model.hidden};
    if (model.positions == Positions::learned) {
        tensors.push_back(std::uint64_t{model.positions_length} * model.hidden);  // every rank holds the whole table
    }
    return tensors;
}

std::vector<std::uint64_t> head_tensors(const Transformer& model, std::uint32_t tensor) {
    std::vector<std::uint64_t> tensors;
    add_norm(model, tensors);
    if (!model.tied_embeddings) tensors.push_back(head_parameters(model, tensor));
    return tensors;
}

std::uint64_t embedding_parameters(const Transformer& model, std::uint32_t tensor) {
    return sum(embedding_tensors(model, tensor));
}

std::uint64_t final_norm_parameters(const Transformer& model) { return norm_parameters(model); }

std::uint64_t head_parameters(const Transformer& model, std::uint32_t tensor) {
    return model.tied_embeddings ? 0 : share(padded_vocabulary(model, tensor), tensor) * model.hidden;
}

std::uint64_t parameters(const Transformer& model, std::uint32_t tensor) {
    return embedding_parameters(model, tensor) + model.layers * layer_parameters(model, tensor) +
           final_norm_parameters(model) + head_parameters(model, tensor);
}

}  // namespace weft
