#include "workloads/data_parallel/module_hooks.hpp"

#include <algorithm>

namespace weft {
namespace {

bool has_matrix(const StageModule& module) {
    return std::find(module.vector.begin(), module.vector.end(), false) != module.vector.end();
}

std::vector<LayerRange> blocks_in(std::span<const StageModule> modules, LayerRange layer) {
    std::vector<LayerRange> blocks;
    for (std::uint32_t first = layer.first; first < layer.end; ++first) {
        std::uint32_t end = first;
        while (end < layer.end && has_matrix(modules[end])) ++end;
        if (end - first >= 2) blocks.push_back({first, end});
        first = std::max(first, end);
    }
    return blocks;
}

}  // namespace

std::vector<LayerRange> layer_ranges(std::span<const StageModule> modules) {
    std::vector<LayerRange> layers;
    const auto count = static_cast<std::uint32_t>(modules.size());
    for (std::uint32_t first = 0; first < count;) {
        const auto same = [&](std::uint32_t m) {
            return m < count && modules[m].layer == modules[first].layer && modules[m].chunk == modules[first].chunk;
        };
        LayerRange layer{first, first + 1};
        while (same(layer.end)) ++layer.end;
        first = layer.end;
        const bool embedding =
            layer.end - layer.first > 1 && has_matrix(modules[layer.first]) && !has_matrix(modules[layer.first + 1]);
        if (embedding) ++layer.first;
        layer.blocks = blocks_in(modules, layer);
        if (!layer.blocks.empty()) layers.push_back(layer);
    }
    return layers;
}

std::vector<ContainerHooks> container_hooks(std::span<const StageModule> modules) {
    std::vector<ContainerHooks> hooks(modules.size());
    const auto count = [&](const LayerRange& range) {
        ++hooks[range.first].forward;
        ++hooks[range.end - 1].backward;
    };
    for (const LayerRange& layer : layer_ranges(modules)) {
        count(layer);
        for (const LayerRange& block : layer.blocks) count(block);
    }
    return hooks;
}

std::vector<ModuleVisit> module_visits(std::span<const StageModule> modules, Checkpointing checkpointing) {
    std::vector<ModuleVisit> visits;
    const auto count = static_cast<std::uint32_t>(modules.size());
    for (std::uint32_t m = 0; m < count; ++m) visits.push_back({m, Pass::forward});
    const std::vector<LayerRange> layers = layer_ranges(modules);
    auto layer = layers.rbegin();
    for (std::uint32_t m = count; m-- > 0;) {
        if (layer != layers.rend() && m + 1 == layer->end) {
            for (std::uint32_t r = layer->first; r < layer->end && checkpointing == Checkpointing::every_layer; ++r) {
                visits.push_back({r, Pass::recompute});
            }
            ++layer;
        }
        visits.push_back({m, Pass::backward});
    }
    return visits;
}

}  // namespace weft
