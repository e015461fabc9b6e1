#include "workloads/data_parallel/fsdp_units.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/base/check.hpp"
#include "workloads/data_parallel/module_hooks.hpp"

namespace weft {

bool hybrid_sharding(const ShardingInput& input) {
    const Sharding strategy = input.fsdp.strategy;
    const bool asked = strategy == Sharding::hybrid || strategy == Sharding::hybrid_gradients;
    WEFT_CHECK(!asked || input.ranks == 1 || input.inner_ranks > 1,
               "hybrid sharding needs inner groups of two or more");
    return asked && input.inner_ranks < input.ranks;
}

std::vector<FsdpUnit> fsdp_units(const ShardingInput& input) {
    std::vector<UnitKind> kinds(input.modules.size(), UnitKind::root);
    for (const LayerRange& layer : layer_ranges(input.modules)) {
        std::fill(kinds.begin() + layer.first, kinds.begin() + layer.end, UnitKind::layer);
    }
    std::vector<FsdpUnit> units;
    std::map<std::tuple<UnitKind, std::uint32_t, std::uint32_t, bool>, std::size_t> known;
    for (std::uint32_t m = 0; m < input.modules.size(); ++m) {
        const StageModule& module = input.modules[m];
        const std::uint32_t layer = kinds[m] == UnitKind::root ? 0 : module.layer;
        const auto [it, first] = known.try_emplace({kinds[m], module.chunk, layer, module.expert}, units.size());
        if (first) {
            FsdpUnit unit{.kind = kinds[m], .chunk = module.chunk, .layer = module.layer};
            const bool inner = hybrid_sharding(input) && !module.expert;
            unit.group = module.expert ? GroupKind::expert_data : inner ? GroupKind::data_inner : GroupKind::data;
            unit.ranks = inner ? input.inner_ranks : ranks_of(input, unit.group);
            units.push_back(unit);
        }
        FsdpUnit& unit = units[it->second];
        unit.modules.push_back(m);
        for (const std::uint64_t elements : module.tensors) {
            const auto size = static_cast<double>(elements);
            unit.elements += input.fsdp.version == 1 ? size : round_up(size, unit.ranks);
        }
    }
    for (FsdpUnit& unit : units) unit.elements = round_up(unit.elements, unit.ranks);
    return units;
}

}  // namespace weft
