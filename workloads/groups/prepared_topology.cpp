#include "workloads/groups/prepared_topology.hpp"

#include <algorithm>
#include <utility>

namespace weft {

// Where nodes are not alike, channels depend on the groups that were laid before (ChannelPlanner reuses its searches),
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

}  // namespace weft
