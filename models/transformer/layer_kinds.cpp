// Which layer of a model is of which kind, and what such a layer sees.
#include <algorithm>
#include <numeric>

#include "models/transformer/kernels.hpp"

namespace weft {

static bool has_experts(const Experts& experts, std::uint32_t layer) {
    if (experts.count == 0 || layer < experts.first_dense) return false;
    return (layer - experts.first_dense) % experts.every == 0;
}

static bool is_windowed(const AttentionWindow& window, std::uint32_t layer) {
    if (window.tokens == 0 || layer < window.first_full) return false;
    return window.full_every == 0 || (layer - window.first_full + 1) % window.full_every != 0;
}

LayerKind layer_kind(const Transformer& model, std::uint32_t layer) {
    if (!model.order.empty()) return model.order[std::min<std::size_t>(layer, model.order.size() - 1)];
    const bool encodes = layer < model.encoder.layers;
    layer = encodes ? layer : std::min(layer, model.layers - 1) - model.encoder.layers;
    const std::size_t named = model.kinds.empty() ? 0
                              : encodes           ? model.kinds.size() - 1
                                                  : model.pattern[layer % model.pattern.size()];
    const Layer& own = layer_of(model, static_cast<LayerKind>(kinds_of_a_layer * named));
    const unsigned expert = has_experts(own.experts, layer) ? 1 : 0, windowed = is_windowed(own.window, layer) ? 2 : 0;
    return static_cast<LayerKind>(kinds_of_a_layer * named + expert + windowed);
}

const Layer& layer_of(const Transformer& model, LayerKind kind) {
    return model.kinds.empty() ? model : model.kinds[static_cast<std::size_t>(kind) / kinds_of_a_layer].layer;
}

Transformer of_kind(const Transformer& model, LayerKind kind) {
    Transformer own = model;
    static_cast<Layer&>(own) = layer_of(model, kind);
    own.kinds.clear();
    own.pattern.clear();
    own.layers = model.own_layers();
    own.encoder.layers = 0;
    own.teacher.clear();
    own.order.clear();
    return own;
}

std::uint32_t teacher_layers(const Transformer& model, std::size_t part, std::size_t parts) {
    const std::uint64_t all = model.teacher.empty() ? 0 : model.teacher.front().layers;
    return static_cast<std::uint32_t>(all * (part + 1) / parts - all * part / parts);
}

void place_teacher(Transformer& model, std::span<const std::uint32_t> parts) {
    Transformer own = model;  // without the teacher
    own.layers = model.own_layers() + model.encoder.layers;
    own.order.clear();
    std::erase_if(own.kinds, [](const NamedLayer& kind) { return kind.layer.of == LayerOf::teacher; });
    if (own.kinds.empty()) {
        own.kinds.push_back({"language", model});
        own.pattern = {0};
    }
    const Transformer& teacher = model.teacher.front();
    model.kinds = own.kinds;
    model.pattern = own.pattern;
    const std::size_t first = model.kinds.size();
    const std::vector<NamedLayer> kinds =
        teacher.kinds.empty() ? std::vector<NamedLayer>{{"", teacher}} : teacher.kinds;
    for (NamedLayer kind : kinds) {
        kind.name = kind.name.empty() ? "teacher" : "teacher " + kind.name;
        kind.layer.of = LayerOf::teacher;
        model.kinds.push_back(std::move(kind));
    }
    model.order.clear();
    std::uint32_t layer = 0, taught = 0;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        const std::uint32_t end = layer + parts[part], last = taught + teacher_layers(model, part, parts.size());
        for (; layer < end; ++layer) model.order.push_back(layer_kind(own, layer));
        for (; taught < last; ++taught) {
            const auto kind = static_cast<std::size_t>(layer_kind(teacher, taught));
            model.order.push_back(static_cast<LayerKind>(kinds_of_a_layer * first + kind));
        }
    }
    model.layers = static_cast<std::uint32_t>(model.order.size());
}

// What a rank sees of an encoder's layers: all tokens of the images of its micro-batch.
Shard of_kind(const Transformer& model, LayerKind kind, const Shard& shard) {
    Shard own = shard;
    own.trained = of_kind(model, kind, shard.trained);
    if (layer_of(model, kind).of != LayerOf::encoder) return own;
    own.micro_batch *= model.encoder.images;
    own.sequence = model.encoder.seen();
    own.packing = {};
    return own;
}

LayerSplit of_kind(const Transformer& model, LayerKind kind, const LayerSplit& split) {
    LayerSplit own = split;
    own.trained = of_kind(model, kind, split.trained);
    return own;
}

Trained of_kind(const Transformer& model, LayerKind kind, const Trained& trained) {
    if (layer_of(model, kind).of == LayerOf::language) return trained;
    return layer_of(model, kind).of == LayerOf::teacher || trained.frozen.has(ModelPart::encoder)
               ? Trained{.frozen = whole_model}
               : Trained{};
}

bool runs_forward_alone(const Transformer& model, LayerKind kind, const Trained& trained) {
    const LayerOf of = layer_of(model, kind).of;
    return of == LayerOf::teacher || (of == LayerOf::encoder && trained.frozen.has(ModelPart::encoder));
}

// Behind the last rule's first layer, kinds come again after the least number of layers that all rules divide.
std::vector<std::uint32_t> layers_by_kind(const Transformer& model, std::uint32_t layers) {
    std::uint32_t first = model.encoder.layers;
    std::uint64_t period = std::max<std::size_t>(1, model.pattern.size());
    const auto obey = [&](const Layer& layer) {
        first = std::max(
            {first, layer.experts.first_dense + model.encoder.layers, layer.window.first_full + model.encoder.layers});
        for (const std::uint64_t every : {layer.experts.every, std::max(1U, layer.window.full_every)})
            if (period < model.layers) period = std::lcm(period, every);
    };
    obey(model);
    for (const NamedLayer& kind : model.kinds) obey(kind.layer);
    if (!model.order.empty()) first = model.layers;
    std::vector<std::uint32_t> found(layer_kinds(model));
    const auto add = [&](std::uint64_t layer, std::uint64_t times) {
        const LayerKind kind = layer_kind(model, static_cast<std::uint32_t>(layer));
        found[static_cast<std::size_t>(kind)] += static_cast<std::uint32_t>(times);
    };
    const std::uint64_t own = std::min(layers, model.layers), begin = std::min<std::uint64_t>(first, own);
    for (std::uint64_t layer = 0; layer < begin; ++layer) add(layer, 1);
    for (std::uint64_t layer = begin; layer < std::min(own, begin + period); ++layer)
        add(layer, (own - layer - 1) / period + 1);
    if (layers > own) add(model.layers, layers - own);
    return found;
}

std::vector<LayerKind> kinds_of(const Transformer& model) {
    std::vector<LayerKind> kinds;
    each_kind(model, model.layers, [&](LayerKind kind, std::uint32_t) { kinds.push_back(kind); });
    return kinds;
}

std::uint32_t expert_layers(const Transformer& model) {
    std::uint32_t sum = 0;
    each_kind(model, model.layers,
              [&](LayerKind kind, std::uint32_t layers) { sum += has_experts(kind) ? layers : 0; });
    return sum;
}

}  // namespace weft
