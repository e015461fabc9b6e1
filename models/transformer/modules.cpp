// Which tensors each module of a transformer registers, on one rank.
#include <fmt/format.h>

#include <numeric>

#include "models/transformer/encoder.hpp"
#include "models/transformer/recurrence.hpp"
#include "models/transformer/transformer.hpp"
#include "sim/base/check.hpp"

namespace weft {
namespace {

// Elements of one of `ranks` equal shares.
std::uint64_t share_of(std::uint64_t elements, std::uint32_t ranks) {
    WEFT_CHECK(ranks > 0 && elements % ranks == 0, fmt::format("{} elements on {} ranks", elements, ranks));
    return elements / ranks;
}

using Outputs = std::vector<std::uint64_t>;

void add_matrix(Module& module, std::uint64_t inputs, std::uint64_t outputs) {
    module.tensors.push_back(inputs * outputs);
    module.vector.push_back(false);
    module.rows.push_back({outputs});
}

void add_vector(Module& module, std::uint64_t elements) {
    module.tensors.push_back(elements);
    module.vector.push_back(true);
    module.rows.push_back({elements});
}

// What is one map here is several of PyTorch's.
void register_apart(Module& module, const Outputs& outputs) {
    const std::uint64_t whole = std::accumulate(outputs.begin(), outputs.end(), std::uint64_t{0});
    for (Outputs& rows : module.rows) {
        if (rows == Outputs{whole}) rows = outputs;
    }
}

// A gated MLP's first map makes its two inputs.
void register_gate_apart(Module& module, std::uint64_t outputs, std::uint64_t inner) {
    if (outputs == 2 * inner) register_apart(module, {inner, inner});
}

void add_linear(Module& module, bool biased, std::uint64_t inputs, std::uint64_t outputs) {
    add_matrix(module, inputs, outputs);
    if (biased) add_vector(module, outputs);
}

void register_norm(Module& module, const Transformer& model, std::uint64_t width) {
    if (!model.norm_weight) return;
    add_vector(module, width);
    if (model.norm == Norm::layer_norm && model.norm_bias) add_vector(module, width);
}

Module norm_module(std::string_view name, const Transformer& model) {
    Module module{.name = name};
    register_norm(module, model, model.hidden);
    return module;
}

Module linear(std::string_view name, bool biased, std::uint64_t inputs, std::uint64_t outputs) {
    Module module{.name = name};
    add_linear(module, biased, inputs, outputs);
    return module;
}

// Queries (of the latent ones), one key for all heads, and norms; beside latent attention a layer norm of the key and
// weights of the heads (Megatron-core, transformer/experimental_attention_variant/dsa.py), beside plain attention RMS
// norms of both (MiniMax-M3). Whole on every rank.
void add_indexer(Module& module, const Transformer& model) {
    const Indexer& indexer = model.indexer;
    const bool latent = model.has_latent_attention();
    const std::uint32_t inputs = latent && model.latent.q_rank > 0 ? model.latent.q_rank : model.hidden;
    add_matrix(module, inputs, std::uint64_t{indexer.heads} * indexer.head_size);
    add_matrix(module, model.hidden, indexer.head_size);
    for (int i = 0; i < 2; ++i) add_vector(module, indexer.head_size);
    if (latent) add_matrix(module, model.hidden, indexer.heads);
}

// Multi-head latent attention's maps to queries, keys and values (Megatron-core,
// transformer/multi_latent_attention.py): those down are not divided, those up by heads.
Module latent_maps(const Transformer& model, std::uint32_t tensor) {
    const LatentAttention& latent = model.latent;
    Module module{.name = "qkv"};
    const bool biased = model.biases.qkv;
    const std::uint64_t queries = share_of(query_width(model), tensor);
    if (latent.q_rank == 0) {
        add_linear(module, biased, model.hidden, queries);
    } else {
        add_linear(module, biased, model.hidden, latent.q_rank);
        register_norm(module, model, latent.q_rank);
        add_linear(module, biased, latent.q_rank, queries);
    }
    const std::uint64_t size = latent.nope_size + latent.value_size;
    add_linear(module, biased, model.hidden, latent.kv_rank + latent.rope_size);
    register_norm(module, model, latent.kv_rank);
    add_linear(module, biased, latent.kv_rank, share_of(model.heads * size, tensor));
    if (const std::uint64_t gate = gate_width(model); gate > 0)
        add_matrix(module, model.hidden, share_of(gate, tensor));
    if (model.indexer.heads > 0) add_indexer(module, model);
    return module;
}

void add_query_key_norm(Module& module, const Transformer& model, std::uint32_t tensor) {
    if (model.query_key_norm == QueryKeyNorm::per_head) {
        for (const std::uint32_t width : {model.head_size, model.head_size}) register_norm(module, model, width);
    } else if (model.query_key_norm == QueryKeyNorm::whole) {
        for (const std::uint64_t width : {query_width(model), key_width(model)})
            add_vector(module, share_of(width, tensor));
    }
}

Module attention_maps(const Transformer& model, std::uint32_t tensor) {
    if (is_recurrent(model.mixer)) return recurrent_module(model, tensor);
    if (model.has_latent_attention()) return latent_maps(model, tensor);
    Module module = linear("qkv", model.biases.qkv, model.hidden, share_of(qkv_outputs(model), tensor));
    Outputs apart{share_of(query_width(model) + gate_width(model), tensor), share_of(key_width(model), tensor)};
    if (!model.keys_are_values) apart.push_back(share_of(value_width(model), tensor));
    register_apart(module, apart);
    add_query_key_norm(module, model, tensor);
    if (model.attention_sinks) add_vector(module, share_of(model.heads, tensor));
    if (model.indexer.heads > 0) add_indexer(module, model);
    return module;
}

Module router_module(const Transformer& model) {
    Module module = linear("router", model.biases.router, model.hidden, model.experts.count);
    if (model.experts.shared_gate) add_matrix(module, model.hidden, 1);
    if (model.experts.latent > 0) {  // to what experts see and back, whole on every rank
        add_matrix(module, model.hidden, model.experts.latent);
        add_matrix(module, model.experts.latent, model.hidden);
    }
    return module;
}

Module local_experts(const Transformer& model, const LayerSplit& split) {
    Module module{.name = "experts", .expert = true};
    const std::uint64_t experts = share_of(model.experts.count, split.expert);
    module.slices = experts;
    for (std::uint64_t expert = 0; expert < experts; ++expert) {
        add_linear(module, model.biases.experts, expert_hidden(model),
                   share_of(expert_input_width(model), split.expert_tensor));
        add_linear(module, model.biases.experts, share_of(model.experts.ffn_hidden, split.expert_tensor),
                   expert_hidden(model));
    }
    module.rows.clear();
    return module;
}

}  // namespace

std::uint64_t module_parameters(const Module& module) {
    return std::accumulate(module.tensors.begin(), module.tensors.end(), std::uint64_t{0});
}

static void add_dense_mlp(std::vector<Module>& modules, const Transformer& model, std::uint32_t tensor) {
    const bool biased = model.biases.mlp;
    modules.push_back(linear("h_to_4h", biased, model.hidden, share_of(ffn_input_width(model), tensor)));
    register_gate_apart(modules.back(), share_of(ffn_input_width(model), tensor), share_of(model.ffn_hidden, tensor));
    modules.push_back(linear("4h_to_h", biased, share_of(model.ffn_hidden, tensor), model.hidden));
}

static void add_experts(std::vector<Module>& modules, const Transformer& model, const LayerSplit& split) {
    WEFT_CHECK(model.experts.count > 0, "a layer with experts of a model without");
    modules.push_back(router_module(model));
    modules.push_back(local_experts(model, split));
    if (model.experts.shared == 0) return;
    const bool biased = model.biases.experts;
    const std::uint64_t inputs = share_of(shared_input_width(model), split.tensor);
    modules.push_back(linear("shared experts up", biased, model.hidden, inputs));
    register_gate_apart(modules.back(), inputs, share_of(shared_width(model), split.tensor));
    modules.push_back(linear("shared experts down", biased, share_of(shared_width(model), split.tensor), model.hidden));
}

std::vector<Module> layer_modules(const Transformer& model, LayerKind kind, const LayerSplit& split) {
    if (!model.kinds.empty()) return layer_modules(of_kind(model, kind), own_kind(kind), of_kind(model, kind, split));
    const NormPlacement norms = model.norm_placement;
    const bool mixes = model.mixer != Mixer::none, feeds = has_feed_forward(model, kind);
    std::vector<Module> modules;
    if (norms != NormPlacement::post) modules.push_back(norm_module("input norm", model));
    if (mixes) {
        modules.push_back(attention_maps(model, split.tensor));
        modules.push_back(
            linear("dense", model.biases.projection, share_of(context_width(model), split.tensor), model.hidden));
    }
    if (mixes && feeds && norms != NormPlacement::shared) {
        modules.push_back(norm_module("post-attention norm", model));
        if (norms == NormPlacement::sandwich) register_norm(modules.back(), model, model.hidden);
    }
    if (has_experts(kind)) add_experts(modules, model, split);
    if (has_mlp(model, kind)) add_dense_mlp(modules, model, split.tensor);
    if (norms >= NormPlacement::post) modules.push_back(norm_module("output norm", model));
    train(modules, model, split.trained, split.tensor);
    return modules;
}

std::vector<Module> encoder_modules(const Transformer& model, const LayerSplit& split) {
    const Encoder& encoder = model.encoder;
    if (encoder.layers == 0) return {};
    const Layer& layer = layer_of_encoder(model);
    std::vector<Module> modules{linear("patch embedding", encoder.patch_bias, encoder.patch, layer.hidden),
                                {.name = "projector"}};
    Module &patches = modules.front(), &projector = modules.back();
    for (std::uint32_t i = 0; i < encoder.class_tokens; ++i) add_vector(patches, layer.hidden);
    if (encoder.positions > 0) add_matrix(patches, encoder.positions, layer.hidden);
    const std::uint32_t of_norm = layer.norm == Norm::layer_norm ? 2 : 1;
    for (std::uint32_t i = 0; i < of_norm * encoder.outer_norms; ++i) add_vector(patches, layer.hidden);
    const std::uint32_t of_input = encoder.projector_norm == ProjectorNorm::layer_norm ? 2
                                   : encoder.projector_norm == ProjectorNorm::rms_norm ? 1
                                                                                       : 0;
    for (std::uint32_t i = 0; i <= encoder.deep; ++i) {
        const std::uint64_t width = std::uint64_t{layer.hidden} * (i == 0 ? 1 : encoder.merge);
        for (std::uint32_t v = 0; v < of_input; ++v) add_vector(projector, width);
        for (const ProjectorMap& map : projector_maps(model))
            add_linear(projector, encoder.projector_bias, map.inputs, map.outputs);
    }
    train(modules, model, split.trained, split.tensor);
    return modules;
}

std::vector<Module> teacher_module(const Transformer& model, const LayerSplit& split, bool before) {
    if (model.teacher.empty()) return {};
    const Transformer& teacher = model.teacher.front();
    Module all{.name = before ? "teacher embedding" : "teacher head"};
    for (const Module& module : before ? embedding_modules(teacher, split) : head_modules(teacher, split)) {
        all.tensors.insert(all.tensors.end(), module.tensors.begin(), module.tensors.end());
        all.vector.insert(all.vector.end(), module.vector.begin(), module.vector.end());
        all.rows.insert(all.rows.end(), module.rows.begin(), module.rows.end());
    }
    all.frozen.assign(all.tensors.size(), true);
    return {all};
}

std::vector<Module> embedding_modules(const Transformer& model, const LayerSplit& split) {
    std::vector<Module> modules{{.name = "embedding"}};
    add_matrix(modules.back(), share_of(padded_vocabulary(model, split.tensor), split.tensor), model.hidden);
    if (model.positions == Positions::learned) {
        modules.push_back({.name = "positions"});
        add_matrix(modules.back(), model.positions_length, model.hidden);  // every rank holds the whole table
    }
    if (model.embedding_norm) modules.push_back(norm_module("embedding norm", model));
    train(modules, model, split.trained, split.tensor);
    for (Module& module : encoder_modules(model, split)) modules.push_back(std::move(module));
    for (Module& module : teacher_module(model, split, true)) modules.push_back(std::move(module));
    return modules;
}

std::vector<Module> head_modules(const Transformer& model, const LayerSplit& split) {
    std::vector<Module> modules{norm_module("final norm", model)};
    if (!model.tied_embeddings) {
        const std::uint64_t outputs = share_of(padded_vocabulary(model, split.tensor), split.tensor);
        modules.push_back(linear("output layer", model.biases.head, model.hidden, outputs));
    }
    train(modules, model, split.trained, split.tensor);
    for (Module& module : teacher_module(model, split, false)) modules.push_back(std::move(module));
    return modules;
}

}  // namespace weft
