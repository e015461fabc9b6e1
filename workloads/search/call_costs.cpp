#include "workloads/search/call_costs.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "workloads/layout/placed_groups.hpp"

namespace weft {

CallCosts::CallCosts(const Topology& topology, Library library)
    : topology_(topology), library_(std::move(library)), planner_(std::make_unique<ChannelPlanner>(topology)) {}

// Where nodes are not alike, channels depend on the groups that were laid before: every layout then starts afresh.
void CallCosts::lay_out(const Layout& layout) {
    layout_ = layout;
    laid_.clear();
    if (topology_.node_links > 0) return;
    known_.clear();
    planner_ = std::make_unique<ChannelPlanner>(topology_);
}

// Those of the call's stage with a rank on the node of the stage's first rank, that are as large.
CallCosts::Groups CallCosts::groups(const Call& call, std::uint32_t stage) const {
    const RankGrid grid = layout_.grid();
    const std::vector<RankId> ranks = grid.slice("pipeline", stage);
    const auto node = [&](RankId rank) { return index(rank) / topology_.ranks_per_node; };
    const std::uint32_t stride = grid.stride("pipeline");
    Groups found;
    std::vector<RankId> seen;
    for (const RankId rank : ranks) {
        if (node(rank) != node(ranks.front())) continue;
        if (call.crosses_boundary()) {
            const auto other = static_cast<std::uint32_t>(rank) - stage * stride + call.peer * stride;
            found.push_back({rank, RankId{other}});
            continue;
        }
        if (std::ranges::find(seen, rank) != seen.end()) continue;
        std::vector<RankId> members = PlacedGroups(call.group, layout_).members(rank);
        seen.insert(seen.end(), members.begin(), members.end());
        if (found.empty() || found.front().size() == members.size()) found.push_back(std::move(members));
    }
    return found;
}

CallCosts::Group& CallCosts::find(const Call& call, std::uint32_t stage) {
    const bool crosses = call.crosses_boundary();
    // Groups of one kind sit alike on every stage, but for boundaries inside a node and between nodes.
    const std::uint32_t stride = crosses ? layout_.grid().stride("pipeline") : 0;
    const bool leaves =
        crosses && stage * stride / topology_.ranks_per_node != call.peer * stride / topology_.ranks_per_node;
    const std::uint32_t far = crosses ? (std::max(stage, call.peer) - std::min(stage, call.peer)) : 0;
    Group*& laid = laid_[{call.group, far, leaves}];
    if (laid != nullptr) return *laid;
    Groups members = groups(call, stage);
    const auto [it, fresh] = known_.try_emplace(std::move(members));
    laid = &it->second;
    if (!fresh) return *laid;
    const Groups& all = it->first;
    const GroupShape shape = shape_of(topology_, all.front());
    std::vector<std::size_t> alike;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const GroupShape own = shape_of(topology_, all[i]);
        if (own == shape) alike.push_back(i);
    }
    laid->costs = std::make_unique<GroupCosts>(topology_, library_, shape, [this, &all, alike](Order order) {
        std::vector<Communicator> communicators;
        for (const std::size_t i : alike) communicators.push_back(planner_->lay(all[i], order));
        return communicators;
    });
    return *laid;
}

Seconds CallCosts::time(const Call& call, std::uint32_t stage) {
    Group& group = find(call, stage);
    if (group.costs->shape().members < 2) return {};
    const auto [it, fresh] = group.times.try_emplace({call.op, call.message.value});
    if (fresh) it->second = group.costs->idle_time(group.costs->require(call.op, call.message), call.message);
    return it->second;
}

}  // namespace weft
