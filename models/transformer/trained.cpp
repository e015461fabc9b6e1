#include "models/transformer/trained.hpp"

#include <fmt/format.h>

#include <utility>

#include "models/transformer/kernel_parts.hpp"
#include "models/transformer/recurrence.hpp"
#include "sim/base/check.hpp"

namespace weft {
namespace {

ModelPart part_of(std::string_view module) {
    if (module == "patch embedding") return ModelPart::encoder;
    if (module == "projector") return ModelPart::projector;
    if (module.ends_with("norm")) return ModelPart::norms;
    if (module.ends_with("embedding") || module == "positions") return ModelPart::embedding;
    if (module == "output layer") return ModelPart::head;
    if (module == "router") return ModelPart::router;
    if (module.find("experts") != module.npos) return ModelPart::experts;
    return module.find("4h") != module.npos ? ModelPart::mlp : ModelPart::attention;
}

bool stands_beside(const Layer& layer, AdapterTarget target, std::string_view module) {
    using enum AdapterTarget;
    const bool attends = layer.mixer == Mixer::attention;
    const bool first = module == "h_to_4h" || module == "shared experts up",
               second = module == "4h_to_h" || module == "shared experts down";
    switch (target) {
        case linear_qkv:
        case q_proj:
        case k_proj:
        case v_proj:
            return module == "qkv" && attends && !layer.has_latent_attention();
        case linear_proj:
        case o_proj:
            return module == "dense" && attends;
        case in_proj:
            return module == "qkv" && layer.mixer == Mixer::mamba2;
        case out_proj:
            return module == "dense" && is_recurrent(layer.mixer);
        case linear_fc1:
            return first || module == "experts";
        case linear_fc2:
            return second || module == "experts";
        case gate_proj:
        case up_proj:
            return first;
        case down_proj:
            return second;
    }
    throw LogicError("an AdapterTarget outside its enumerators");
}

template <class Visit>  // of each target that is adapted: visit(target)
void each_target(const Trained& trained, Visit visit) {
    for (unsigned i = 0; i <= static_cast<unsigned>(AdapterTarget::out_proj); ++i)
        if (const auto target = static_cast<AdapterTarget>(i); trained.targets.has(target)) visit(target);
}

// A map beside which an adapter stands, whole.
struct AdaptedMap {
    std::uint64_t inputs, outputs;
    bool by_inputs;  // how tensor ranks cut it
};

AdaptedMap map_of(const Transformer& model, AdapterTarget target, std::string_view module) {
    using enum AdapterTarget;
    const bool shared = module == "shared experts up" || module == "shared experts down";
    const std::uint64_t inner = shared ? shared_width(model) : model.ffn_hidden;
    if (module == "dense") return {context_width(model), model.hidden, true};
    if (module == "experts" && target == linear_fc1) return {expert_hidden(model), expert_input_width(model), false};
    if (module == "experts") return {model.experts.ffn_hidden, expert_hidden(model), true};
    if (target == linear_fc2 || target == down_proj) return {inner, model.hidden, true};
    if (target == linear_fc1) return {model.hidden, shared ? shared_input_width(model) : ffn_input_width(model), false};
    if (target == gate_proj || target == up_proj) return {model.hidden, inner, false};
    const std::uint64_t outputs = target == linear_qkv ? qkv_outputs(model)
                                  : target == in_proj  ? recurrent_inputs(model)
                                  : target == q_proj   ? query_width(model) + gate_width(model)
                                  : target == k_proj   ? key_width(model)
                                                       : value_width(model);
    return {model.hidden, outputs, false};
}

template <class Visit>  // of each adapter beside a module: visit(map)
void each_adapter(const Transformer& model, const Trained& trained, std::string_view module, Visit visit) {
    each_target(trained, [&](AdapterTarget target) {
        if (stands_beside(model, target, module)) visit(map_of(model, target, module));
    });
}

// `rows` on this rank; of experts, which tensor ranks do not share, its own.
void add_adapter(LayerPiece& piece, const AdaptedMap& map, const Trained& trained, const Shard& shard, double rows,
                 double ranks) {
    const double e = shard.element_bytes, width = trained.width;
    const double inputs = double(map.inputs) / (map.by_inputs ? ranks : 1.0), outputs = double(map.outputs) / ranks;
    const double down = width / (map.by_inputs ? 1.0 : ranks);  // rows of A on this rank
    const double sum = map.by_inputs ? double(map.outputs) : outputs;
    const double own = shard.sequence_parallel == SequenceParallel::on && map.by_inputs ? rows / ranks : rows;
    const auto add = [](std::vector<Kernel>& list, std::initializer_list<Kernel> kernels) {
        list.insert(list.end(), kernels);
    };
    add(piece.forward,
        {gemm_kernel("adapter down", rows, down, inputs, e), gemm_kernel("adapter up", rows, outputs, width, e),
         memory_kernel("adapter scale", 2.0 * own * sum, e), memory_kernel("adapter sum", 3.0 * own * sum, e)});
    add(piece.input_backward, {memory_kernel("adapter scale gradient", 2.0 * own * sum, e),
                               gemm_kernel("adapter up input gradient", rows, width, outputs, e),
                               gemm_kernel("adapter down input gradient", rows, inputs, down, e),
                               memory_kernel("adapter input gradient sum", 3.0 * rows * inputs, e)});
    add(piece.weight_backward, {gemm_kernel("adapter up weight gradient", outputs, width, rows, e),
                                gemm_kernel("adapter down weight gradient", down, inputs, rows, e)});
}

void adapter_obstacles(const Transformer& model, const Trained& trained, std::uint32_t tensor,
                       std::vector<std::string>& why) {
    using enum AdapterTarget;
    if (trained.targets.empty()) why.emplace_back("adapters stand beside no map; name some as adapters.targets");
    each_target(trained, [&](AdapterTarget target) {
        const std::string_view name = enumerator_name(target);
        if (trained_parameters(model, {.frozen = whole_model, .targets = {target}, .width = 1}) == 0)
            why.push_back(fmt::format("no layer of {} has a {}", model.name, name));
        if (target == gate_proj && !model.gated)
            why.push_back(fmt::format("the MLP of {} has no gate_proj", model.name));
    });
    for (const auto& [fused, parts] : {std::pair{linear_qkv, EnumSet<AdapterTarget>{q_proj, k_proj, v_proj}},
                                       {linear_proj, {o_proj}},
                                       {linear_fc1, {gate_proj, up_proj}},
                                       {linear_fc2, {down_proj}}}) {
        each_target(trained, [&, fused = fused, parts = parts](AdapterTarget target) {
            if (parts.has(target) && trained.targets.has(fused))
                why.push_back(fmt::format("{} is the same map as, or holds, another target beside it, {}",
                                          enumerator_name(fused), enumerator_name(target)));
        });
    }
    if (trained.width % tensor != 0)
        why.push_back(fmt::format("{} tensor ranks do not divide adapters.rank {}", tensor, trained.width));
}

}  // namespace

bool Trained::trains(std::string_view module) const { return !frozen.has(part_of(module)); }

std::uint32_t adapters_beside(const Layer& layer, const Trained& trained, std::string_view module) {
    std::uint32_t count = 0;
    each_target(trained, [&](AdapterTarget target) { count += stands_beside(layer, target, module) ? 1 : 0; });
    return count;
}

double adapter_elements(const Transformer& model, const Trained& trained, std::string_view module) {
    double sum = 0;
    each_adapter(model, trained, module,
                 [&](const AdaptedMap& map) { sum += trained.width * (double(map.inputs) + double(map.outputs)); });
    return sum;
}

void train(std::vector<Module>& modules, const Transformer& model, const Trained& trained, std::uint32_t tensor) {
    if (trained.everything()) return;
    for (Module& module : modules) {
        module.frozen.assign(module.tensors.size(), !trained.trains(module.name));
        const std::uint32_t ranks = module.expert ? 1 : tensor;
        each_adapter(model, trained, module.name, [&](const AdaptedMap& map) {
            const std::uint64_t down = trained.width / (map.by_inputs ? 1 : ranks), up = map.outputs / ranks;
            module.tensors.insert(module.tensors.end(),
                                  {down * (map.inputs / (map.by_inputs ? ranks : 1)), up * trained.width});
            for (const std::uint64_t rows : {down, up}) {
                module.vector.push_back(false);
                module.rows.push_back({rows});
                module.frozen.push_back(false);
            }
        });
    }
}

void freeze(std::vector<LayerPiece>& pieces, const Trained& trained) {
    for (LayerPiece& piece : pieces) {
        if (!trained.trains(piece.module) && !piece.module.empty()) piece.weight_backward.clear();
    }
}

void add_adapters(std::vector<LayerPiece>& pieces, const Transformer& model, const Shard& shard) {
    for (LayerPiece& piece : pieces) {
        const bool routed = piece.module == "experts";
        each_adapter(model, shard.trained, piece.module, [&](const AdaptedMap& map) {
            const double rows = routed ? ExpertSizes(model, shard).received() : ShardSizes(model, shard).tokens;
            add_adapter(piece, map, shard.trained, shard, rows, routed ? 1.0 : shard.tensor);
        });
    }
}

std::uint64_t trained_parameters(const Transformer& model, const Trained& trained) {
    if (trained.everything()) return parameters(model);
    const LayerSplit whole{.trained = trained};
    std::uint64_t sum = 0;
    const auto add = [&](const std::vector<Module>& modules, std::uint32_t times) {
        for (const Module& module : modules) {
            for (std::size_t t = 0; t < module.tensors.size(); ++t) {
                if (module.trains(t)) sum += times * module.tensors[t];
            }
        }
    };
    add(embedding_modules(model, whole), 1);
    each_kind(model, model.layers,
              [&](LayerKind kind, std::uint32_t layers) { add(layer_modules(model, kind, whole), layers); });
    add(head_modules(model, whole), 1);
    return sum;
}

std::vector<std::string> training_obstacles(const Transformer& model, const Trained& trained, std::uint32_t tensor) {
    std::vector<std::string> why;
    if (trained.everything()) return why;
    if (model.mtp_layers > 0) {
        why.emplace_back(
            "modules that predict further tokens are known with the whole model trained; "
            "leave them out with model.mtp_layers=0");
    }
    if (trained.width > 0) {
        adapter_obstacles(model, trained, tensor, why);
        return why;
    }
    if (model.tied_embeddings && trained.frozen.has(ModelPart::embedding) != trained.frozen.has(ModelPart::head))
        why.push_back(fmt::format("embedding and head of {} are one matrix; freeze both or neither", model.name));
    const auto trains = [&](ModelPart part) { return !trained.frozen.has(part); };
    const bool encodes = model.encoder.layers > 0;
    const bool before = encodes && (trains(ModelPart::encoder) || trains(ModelPart::projector));
    const bool experts = model.experts.count > 0 && (trains(ModelPart::experts) || trains(ModelPart::router));
    if (!before && !experts && !trains(ModelPart::embedding) && !trains(ModelPart::attention) &&
        !trains(ModelPart::mlp) && !trains(ModelPart::norms)) {
        why.emplace_back(
            "nothing before the output layer would be trained, and no gradient would pass the layers: "
            "such a step is not known");
    }
    for (const ModelPart part : {ModelPart::encoder, ModelPart::projector}) {
        if (!encodes && !trains(part))
            why.push_back(fmt::format("{} has no {} to freeze", model.name, enumerator_name(part)));
    }
    return why;
}

}  // namespace weft
