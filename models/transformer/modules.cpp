// Which tensors each module of a transformer registers, on one rank.
#include <fmt/format.h>

#include <numeric>

#include "models/transformer/transformer.hpp"
#include "sim/base/check.hpp"

namespace weft {
namespace {

// Elements of one of `ranks` equal shares.
std::uint64_t share(std::uint64_t elements, std::uint32_t ranks) {
    WEFT_CHECK(ranks > 0 && elements % ranks == 0, fmt::format("{} elements on {} ranks", elements, ranks));
    return elements / ranks;
}

void add_matrix(Module& module, std::uint64_t inputs, std::uint64_t outputs) {
    module.tensors.push_back(inputs * outputs);
    module.vector.push_back(false);
}

void add_vector(Module& module, std::uint64_t elements) {
    module.tensors.push_back(elements);
    module.vector.push_back(true);
}

void add_linear(Module& module, const Transformer& model, std::uint64_t inputs, std::uint64_t outputs) {
    add_matrix(module, inputs, outputs);
    if (model.biases) add_vector(module, outputs);
}

Module norm(std::string_view name, const Transformer& model) {
    Module module{.name = name, .tensors = {}, .vector = {}};
    add_vector(module, model.hidden);
    if (model.norm == Norm::layer_norm) add_vector(module, model.hidden);
    return module;
}

Module linear(std::string_view name, const Transformer& model, std::uint64_t inputs, std::uint64_t outputs) {
    Module module{.name = name, .tensors = {}, .vector = {}};
    add_linear(module, model, inputs, outputs);
    return module;
}

// Multi-head latent attention's maps to queries, keys and values (Megatron-core,
// transformer/multi_latent_attention.py): those down are not divided, those up by heads.
Module latent_maps(const Transformer& model, std::uint32_t tensor) {
    const LatentAttention& latent = model.latent;
    Module module{.name = "qkv", .tensors = {}, .vector = {}};
    const auto normed = [&](std::uint64_t rank) {
        add_vector(module, rank);
        if (model.norm == Norm::layer_norm) add_vector(module, rank);
    };
    const std::uint64_t queries = share(query_width(model), tensor);
    if (latent.q_rank == 0) {
        add_linear(module, model, model.hidden, queries);
    } else {
        add_linear(module, model, model.hidden, latent.q_rank);
        normed(latent.q_rank);
        add_linear(module, model, latent.q_rank, queries);
    }
    const std::uint64_t size = latent.nope_size + latent.value_size;
    add_linear(module, model, model.hidden, latent.kv_rank + latent.rope_size);
    normed(latent.kv_rank);
    add_linear(module, model, latent.kv_rank, share(model.heads * size, tensor));
    return module;
}

Module attention_maps(const Transformer& model, std::uint32_t tensor) {
    if (model.has_latent_attention()) return latent_maps(model, tensor);
    Module module = linear("qkv", model, model.hidden, share(qkv_width(model), tensor));
    if (model.query_key_norm) {
        for (const std::uint32_t weights : {model.head_size, model.head_size}) add_vector(module, weights);
    }
    return module;
}

Module router(const Transformer& model) {
    Module module{.name = "router", .tensors = {}, .vector = {}};
    add_matrix(module, model.hidden, model.experts.count);
    return module;
}

Module local_experts(const Transformer& model, const LayerSplit& split) {
    Module module{.name = "experts", .expert = true, .tensors = {}, .vector = {}};
    const std::uint64_t experts = share(model.experts.count, split.expert);
    for (std::uint64_t expert = 0; expert < experts; ++expert) {
        add_linear(module, model, model.hidden, share(expert_input_width(model), split.expert_tensor));
        add_linear(module, model, share(model.experts.ffn_hidden, split.expert_tensor), model.hidden);
    }
    return module;
}

}  // namespace

std::uint64_t module_parameters(const Module& module) {
    return std::accumulate(module.tensors.begin(), module.tensors.end(), std::uint64_t{0});
}

std::vector<Module> layer_modules(const Transformer& model, LayerKind kind, const LayerSplit& split) {
    const std::uint64_t hidden = model.hidden;
    const std::uint32_t tensor = split.tensor;
    std::vector<Module> modules{norm("input norm", model), attention_maps(model, tensor),
                                linear("dense", model, share(context_width(model), tensor), hidden),
                                norm("post-attention norm", model)};
    if (kind == LayerKind::dense) {
        modules.push_back(linear("h_to_4h", model, hidden, share(ffn_input_width(model), tensor)));
        modules.push_back(linear("4h_to_h", model, share(model.ffn_hidden, tensor), hidden));
        return modules;
    }
    WEFT_CHECK(model.experts.count > 0, "a layer with experts of a model without");
    modules.push_back(router(model));
    modules.push_back(local_experts(model, split));
    if (model.experts.shared > 0) {
        modules.push_back(linear("shared experts up", model, hidden, share(shared_input_width(model), tensor)));
        modules.push_back(linear("shared experts down", model, share(shared_width(model), tensor), hidden));
    }
    return modules;
}

std::vector<Module> embedding_modules(const Transformer& model, const LayerSplit& split) {
    std::vector<Module> modules{{.name = "embedding", .tensors = {}, .vector = {}}};
    add_matrix(modules.back(), share(padded_vocabulary(model, split.tensor), split.tensor), model.hidden);
    if (model.positions == Positions::learned) {
        modules.push_back({.name = "positions", .tensors = {}, .vector = {}});
        add_matrix(modules.back(), model.positions_length, model.hidden);  // every rank holds the whole table
    }
    return modules;
}

std::vector<Module> head_modules(const Transformer& model, const LayerSplit& split) {
    std::vector<Module> modules{norm("final norm", model)};
    if (!model.tied_embeddings) {
        modules.push_back({.name = "output layer", .tensors = {}, .vector = {}});
        add_matrix(modules.back(), share(padded_vocabulary(model, split.tensor), split.tensor), model.hidden);
    }
    return modules;
}

}  // namespace weft
