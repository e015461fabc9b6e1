#include "workloads/groups/topology_pool.hpp"

#include <algorithm>
#include <utility>

namespace weft {

std::unique_ptr<PreparedTopology> TopologyPool::take(const Machine& machine, std::uint32_t nodes,
                                                     const Fabric& fabric) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = std::ranges::find_if(unused_, [&](const Unused& unused) {
            return unused.machine.is_copy_of(machine) && unused.nodes == nodes && unused.fabric == fabric;
        });
        if (found != unused_.end()) {
            std::unique_ptr<PreparedTopology> topology = std::move(found->topology);
            unused_.erase(found);
            return topology;
        }
    }
    return std::make_unique<PreparedTopology>(machine.topology(nodes, fabric));
}

void TopologyPool::put_back(const Machine& machine, std::uint32_t nodes, const Fabric& fabric,
                            std::unique_ptr<PreparedTopology> topology) {
    const std::lock_guard lock(mutex_);
    if (unused_.size() >= most_ && !unused_.empty()) unused_.erase(unused_.begin());
    if (most_ > 0) {
        unused_.push_back({.machine = machine, .nodes = nodes, .fabric = fabric, .topology = std::move(topology)});
    }
}

}  // namespace weft
