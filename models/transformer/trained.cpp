#include "models/transformer/trained.hpp"

#include <fmt/format.h>

#include <array>

#include "models/transformer/kernel_parts.hpp"

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

// Of each target, the module beside whose map it stands.
constexpr std::array<std::string_view, 11> modules_of_targets{"qkv", "dense", "h_to_4h", "4h_to_h", "qkv",    "qkv",
                                                              "qkv", "dense", "h_to_4h", "h_to_4h", "4h_to_h"};
std::string_view module_of(AdapterTarget target) { return modules_of_targets[static_cast<std::size_t>(target)]; }

template <class Visit>  // of each target that is adapted: visit(target)
void each_target(const Trained& trained, Visit visit) {
    for (std::size_t i = 0; i < modules_of_targets.size(); ++i) {
        if (const auto target = static_cast<AdapterTarget>(i); trained.targets.has(target)) visit(target);
    }
}

// A map beside which an adapter stands, whole.
struct AdaptedMap {
    std::uint64_t inputs, outputs;
    bool by_inputs;  // how tensor ranks cut it
};

AdaptedMap map_of(const Transformer& model, AdapterTarget target) {
    using enum AdapterTarget;
    if (module_of(target) == "dense") return {context_width(model), model.hidden, true};
    if (module_of(target) == "4h_to_h") return {model.ffn_hidden, model.hidden, true};
    if (target == linear_fc1) return {model.hidden, ffn_input_width(model), false};
    const std::uint64_t outputs = target == linear_qkv ? qkv_outputs(model)
                                  : target == q_proj   ? query_width(model) + gate_width(model)
                                  : target == k_proj   ? key_width(model)
                                  : target == v_proj   ? value_width(model)
                                                       : model.ffn_hidden;
    return {model.hidden, outputs, false};
}

template <class Visit>  // of each adapter beside a module: visit(map)
void each_adapter(const Transformer& model, const Trained& trained, std::string_view module, Visit visit) {
    each_target(trained, [&](AdapterTarget target) {
        if (module_of(target) == module) visit(map_of(model, target));
    });
}

void add_adapter(LayerPiece& piece, const AdaptedMap& map, const Trained& trained, const Shard& shard, double tokens) {
    const double ranks = shard.tensor, e = shard.element_bytes, width = trained.width;
    const double inputs = double(map.inputs) / (map.by_inputs ? ranks : 1.0), outputs = double(map.outputs) / ranks;
    const double down = width / (map.by_inputs ? 1.0 : ranks);  // rows of A on this rank
    const double sum = map.by_inputs ? double(map.outputs) : outputs;
    const double own = shard.sequence_parallel == SequenceParallel::on && map.by_inputs ? tokens / ranks : tokens;
    const auto add = [](std::vector<Kernel>& list, std::initializer_list<Kernel> kernels) {
        list.insert(list.end(), kernels);
    };
    add(piece.forward,
        {gemm_kernel("adapter down", tokens, down, inputs, e), gemm_kernel("adapter up", tokens, outputs, width, e),
         memory_kernel("adapter scale", 2.0 * own * sum, e), memory_kernel("adapter sum", 3.0 * own * sum, e)});
    add(piece.input_backward, {memory_kernel("adapter scale gradient", 2.0 * own * sum, e),
                               gemm_kernel("adapter up input gradient", tokens, width, outputs, e),
                               gemm_kernel("adapter down input gradient", tokens, inputs, down, e),
                               memory_kernel("adapter input gradient sum", 3.0 * tokens * inputs, e)});
    add(piece.weight_backward, {gemm_kernel("adapter up weight gradient", outputs, width, tokens, e),
                                gemm_kernel("adapter down weight gradient", down, inputs, tokens, e)});
}

bool mixes_plainly(const Transformer& model, LayerKind kind) {
    const Layer& layer = layer_of(model, kind);
    return layer.mixer == Mixer::attention && !layer.has_latent_attention();
}

void adapter_obstacles(const Transformer& model, const Trained& trained, std::uint32_t tensor,
                       std::vector<std::string>& why) {
    if (trained.targets.empty()) why.emplace_back("adapters stand beside no map; name some as adapters.targets");
    each_target(trained, [&](AdapterTarget target) {
        const std::string_view name = enumerator_name(target), module = module_of(target);
        const bool attention = part_of(module) == ModelPart::attention;
        for (const LayerKind kind : kinds_of(model)) {
            if (attention ? mixes_plainly(model, kind) : has_mlp(layer_of(model, kind), kind)) continue;
            why.push_back(
                fmt::format("{} of {} is not a plain map in every layer ({}); adapters beside others are not "
                            "known",
                            name, model.name, attention ? "latent attention or a recurrence" : "experts"));
            break;
        }
        if (target == AdapterTarget::gate_proj && !model.gated)
            why.push_back(fmt::format("the MLP of {} has no gate_proj", model.name));
        const bool first = target == AdapterTarget::linear_qkv || target == AdapterTarget::linear_fc1;
        double beside = 0;
        each_adapter(model, trained, module, [&](const AdaptedMap&) { ++beside; });
        const bool last = target == AdapterTarget::linear_proj || target == AdapterTarget::linear_fc2;
        if ((first || last) && beside > 1)
            why.push_back(fmt::format("{} is the same map as, or holds, another target beside it", name));
    });
    if (trained.width % tensor != 0)
        why.push_back(fmt::format("{} tensor ranks do not divide adapters.rank {}", tensor, trained.width));
}

}  // namespace

bool Trained::trains(std::string_view module) const { return !frozen.has(part_of(module)); }

bool Trained::adapts(std::string_view module) const { return adapter_width(*this, module) > 0; }

double adapter_width(const Trained& trained, std::string_view module) {
    double sum = 0;
    each_target(trained, [&](AdapterTarget target) { sum += module_of(target) == module ? trained.width : 0; });
    return sum;
}

void train(std::vector<Module>& modules, const Transformer& model, const Trained& trained, std::uint32_t tensor) {
    if (trained.everything()) return;
    for (Module& module : modules) {
        module.frozen.assign(module.tensors.size(), !trained.trains(module.name));
        each_adapter(model, trained, module.name, [&](const AdaptedMap& map) {
            const std::uint64_t down = trained.width / (map.by_inputs ? 1 : tensor), up = map.outputs / tensor;
            module.tensors.insert(module.tensors.end(),
                                  {down * (map.inputs / (map.by_inputs ? tensor : 1)), up * trained.width});
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
    const double tokens = ShardSizes(model, shard).tokens;
    for (LayerPiece& piece : pieces) {
        each_adapter(model, shard.trained, piece.module,
                     [&](const AdaptedMap& map) { add_adapter(piece, map, shard.trained, shard, tokens); });
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
    const bool experts = model.experts.count > 0 && (trains(ModelPart::experts) || trains(ModelPart::router));
    if (!experts && !trains(ModelPart::embedding) && !trains(ModelPart::attention) && !trains(ModelPart::mlp) &&
        !trains(ModelPart::norms)) {
        why.emplace_back(
            "nothing before the output layer would be trained, and no gradient would pass the layers: "
            "such a step is not known");
    }
    return why;
}

}  // namespace weft
