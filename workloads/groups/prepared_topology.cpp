#include "workloads/groups/prepared_topology.hpp"

#include <algorithm>

namespace weft {

// Where nodes differ, channels depend on the groups that were laid before (ChannelPlanner reuses its searches),
// so every plan starts afresh.
CostsPool& PreparedTopology::costs(const Plan& plan) {
    std::size_t links = 0;
    for (const auto& pool : pools_) links += pool->routed_links();
    if (links > most_links || topology_.node_links == 0) pools_.clear();
    Library library = library_of(plan);
    const auto same = std::ranges::find_if(pools_, [&](const auto& pool) { return pool->library() == library; });
    if (same != pools_.end()) return **same;
    return *pools_.emplace_back(std::make_unique<CostsPool>(topology_, std::move(library)));
}

std::unique_ptr<PreparedTopology> prepare(const Study& study) {
    return std::make_unique<PreparedTopology>(study.machine.topology(study.job.nodes, study.job.fabric));
}

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
