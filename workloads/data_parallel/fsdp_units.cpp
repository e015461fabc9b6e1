#include "workloads/data_parallel/fsdp_units.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/base/check.hpp"

namespace weft {
namespace {

bool has_matrix(const StageModule& module) { return std::ranges::find(module.vector, false) != module.vector.end(); }

// Modules [first, end) of a layer.
struct LayerRange {
    std::uint32_t first = 0, end = 0;
    std::vector<LayerRange> blocks{};  // attention and MLP: runs of modules with matrices
};

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

std::vector<LayerRange> layer_ranges(std::span<const StageModule> modules) {
    std::vector<LayerRange> layers;
    for (std::uint32_t m = 0; m < modules.size(); ++m) {
        if (modules[m].is_before_layers() || modules[m].is_after_layers()) continue;
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

double own_elements(const Module& module) { return static_cast<double>(module_parameters(module)); }

bool has_module(const ShardingInput& input, std::uint32_t chunk, std::string_view name) {
    return std::ranges::any_of(input.modules,
                               [&](const StageModule& module) { return module.chunk == chunk && module.name == name; });
}

// A tied table is used at both ends, and so stays with what the root has.
UnitKind kind_outside_layers(const ShardingInput& input, const StageModule& module) {
    const bool tied = has_module(input, module.chunk, "final norm") && !has_module(input, module.chunk, "output layer");
    if (input.fsdp.version == 1 || tied) return UnitKind::root;
    const bool after = module.is_after_layers() && module.name != "tied embedding";
    return after ? UnitKind::head : UnitKind::embedding;
}

std::vector<UnitKind> unit_kinds(const ShardingInput& input) {
    std::vector<UnitKind> kinds;
    for (const StageModule& module : input.modules) kinds.push_back(kind_outside_layers(input, module));
    for (const LayerRange& layer : layer_ranges(input.modules)) {
        std::fill(kinds.begin() + layer.first, kinds.begin() + layer.end, UnitKind::layer);
    }
    return kinds;
}

FsdpUnit empty_unit(const ShardingInput& input, UnitKind kind, const StageModule& module) {
    FsdpUnit unit{.kind = kind, .chunk = module.chunk, .layer = module.layer, .forward_alone = module.forward_alone};
    if (!hybrid_sharding(input)) {
        unit.group = module.expert ? RankGroups{"expert_data"} : copy_axes();
        unit.ranks = ranks_of(input, unit.group);
        return unit;
    }
    unit.group = module.expert ? RankGroups::inner({"expert_data"}) : RankGroups::inner(copy_axes());
    unit.replicas = module.expert ? RankGroups::outer({"expert_data"}) : RankGroups::outer({"data"});
    unit.ranks = module.expert ? input.expert_inner_ranks : input.inner_ranks;
    return unit;
}

}  // namespace

std::vector<std::size_t> units_of_modules(std::span<const FsdpUnit> units, std::size_t modules) {
    std::vector<std::size_t> unit_of(modules);
    for (std::size_t u = 0; u < units.size(); ++u) {
        for (const std::uint32_t m : units[u].modules) unit_of[m] = u;
    }
    return unit_of;
}

bool opens(const ShardingInput& input, const FsdpUnit& unit, std::size_t module, Pass pass) {
    const bool again =
        unit.kind == UnitKind::layer && runs_again(input.checkpointing, input.modules[unit.modules.front()]);
    if (pass != Pass::backward) return module == unit.modules.front();
    return !again && module == unit.modules.back();
}

bool prefetches(const FsdpSettings& settings, Pass pass) {
    return pass == Pass::forward ? settings.forward_prefetch == Setting::on
                                 : settings.backward_prefetch == BackwardPrefetch::before;
}

bool hybrid_sharding(const ShardingInput& input) {
    const bool asked = is_hybrid(input.fsdp);
    WEFT_CHECK(!asked || input.ranks == 1 || input.inner_ranks > 1,
               "hybrid sharding needs inner groups of two or more");
    return asked && input.inner_ranks < input.ranks;
}

double padded_elements(const Module& module, std::uint32_t ranks, Counted counted) {
    const auto left_out = [&](std::size_t t) { return counted == Counted::trained && !module.trains(t); };
    if (module.slices > 0) {
        if (left_out(0)) return 0;
        const auto slices = static_cast<double>(module.slices);
        if (module.expert && slices < ranks) return round_up(own_elements(module), ranks);
        return own_elements(module) / slices * round_up(slices, ranks);
    }
    double padded = 0;
    for (std::size_t t = 0; t < module.tensors.size(); ++t) {
        if (left_out(t)) continue;
        const auto elements = static_cast<double>(module.tensors[t]);
        if (module.rows.empty()) {
            padded += round_up(elements, ranks);
            continue;
        }
        double rows = 0, padded_rows = 0;
        for (const std::uint64_t own : module.rows[t]) {
            rows += static_cast<double>(own);
            padded_rows += round_up(static_cast<double>(own), ranks);
        }
        padded += elements / rows * padded_rows;
    }
    return padded;
}

std::vector<FsdpUnit> fsdp_units(const ShardingInput& input) {
    const std::vector<UnitKind> kinds = unit_kinds(input);
    std::vector<FsdpUnit> units;
    std::map<std::tuple<UnitKind, std::uint32_t, std::uint32_t, bool>, std::size_t> known;
    for (std::uint32_t m = 0; m < input.modules.size(); ++m) {
        const StageModule& module = input.modules[m];
        const std::uint32_t layer = kinds[m] == UnitKind::layer ? module.layer : 0;
        const auto [it, first] = known.try_emplace({kinds[m], module.chunk, layer, module.expert}, units.size());
        if (first) units.push_back(empty_unit(input, kinds[m], module));
        FsdpUnit& unit = units[it->second];
        unit.modules.push_back(m);
        const bool flat = input.fsdp.version == 1;  // trained as a whole
        unit.elements += flat ? own_elements(module) : padded_elements(module, unit.ranks);
        unit.trained += flat ? own_elements(module) : padded_elements(module, unit.ranks, Counted::trained);
    }
    for (FsdpUnit& unit : units) {
        for (double* const each : {&unit.elements, &unit.trained}) *each = round_up(*each, unit.ranks);
    }
    return units;
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
            for (std::uint32_t r = layer->first; r < layer->end && !modules[r].forward_alone; ++r) {
                if (runs_again(checkpointing, modules[r])) visits.push_back({r, Pass::recompute});
            }
            ++layer;
        }
        if (!modules[m].forward_alone) visits.push_back({m, Pass::backward});
    }
    return visits;
}

}  // namespace weft
