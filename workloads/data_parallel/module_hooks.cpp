#include "workloads/data_parallel/module_hooks.hpp"

#include <algorithm>
#include <array>

namespace weft {
namespace {

bool has_matrix(const StageModule& module) {
    return std::find(module.vector.begin(), module.vector.end(), false) != module.vector.end();
}

bool outside_layers(const StageModule& module) {
    constexpr std::array names{"embedding",  "positions",    "embedding norm",
                               "final norm", "output layer", "tied embedding"};
    return std::find(names.begin(), names.end(), module.name) != names.end();
}

std::vector<LayerRange> blocks_in(std::span<const StageModule> modules, LayerRange layer) {
    std::vector<LayerRange> blocks;
    for (std::uint32_t first = layer.first; first < layer.end; ++first) {
        std::uint32_t end = first;
        while (end < layer.end && has_matrix(modules[end])) ++end;
        if (end > first) blocks.push_back({first, end});
        first = std::max(first, end);
    }
    return blocks;
}

}  // namespace

std::vector<LayerRange> layer_ranges(std::span<const StageModule> modules) {
    std::vector<LayerRange> layers;
    for (std::uint32_t m = 0; m < modules.size(); ++m) {
        if (outside_layers(modules[m])) continue;
        const bool continues = !layers.empty() && layers.back().end == m && modules[m].layer == modules[m - 1].layer &&
                               modules[m].chunk == modules[m - 1].chunk;
        if (continues) {
            ++layers.back().end;
        } else {
            layers.push_back({m, m + 1});
        }
    }
    for (LayerRange& layer : layers) layer.blocks = blocks_in(modules, layer);
    return layers;
}

std::vector<Container> containers_of(std::span<const StageModule> modules) {
    std::vector<Container> containers;
    for (const LayerRange& layer : layer_ranges(modules)) {
        Container& whole = containers.emplace_back(Container{layer.first, layer.end, {}});
        for (const LayerRange& block : layer.blocks) whole.hand_out.push_back(block.end - 1);
        for (const LayerRange& block : layer.blocks) {
            Container& part = containers.emplace_back(Container{block.first, block.end, {}});
            for (std::uint32_t m = block.first; m + 1 < block.end; ++m) part.hand_out.push_back(m);
        }
    }
    return containers;
}

std::vector<ContainerHooks> container_hooks(std::span<const Container> containers, std::size_t modules) {
    std::vector<ContainerHooks> hooks(modules);
    for (std::uint32_t c = 0; c < containers.size(); ++c) {
        hooks[containers[c].first].forward.push_back(c);
        hooks[containers[c].end - 1].backward.push_back(c);
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
            for (std::uint32_t r = layer->first; r < layer->end; ++r) {
                if (runs_again(checkpointing, modules[r])) visits.push_back({r, Pass::recompute});
            }
            ++layer;
        }
        visits.push_back({m, Pass::backward});
    }
    return visits;
}

}  // namespace weft
