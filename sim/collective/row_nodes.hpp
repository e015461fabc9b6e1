// The nodes of the groups of a row, and whether one switch joins them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/collective/fabric_sample.hpp"
#include "sim/collective/group_row.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class RowNodes {
  public:
    RowNodes(const Topology& topology, const GroupRow& row)
        : tree_(*topology.router->tree()), ranks_per_node_(topology.ranks_per_node) {
        for (const RankId rank : row.members) {
            const std::uint32_t node = topology.node_of(rank);
            if (nodes_.empty() || nodes_.back() != node) nodes_.push_back(node);  // members are mostly ascending
        }
    }

    // Whether the first NICs of all nodes of the groups moved by `across` are plugged into one switch. Then NICs of one
    // number are, whatever the number (RouteTree), and messages between such pass no other.
    bool on_one_switch(std::uint32_t across) const {
        if (!may_be_on_one_switch()) return false;
        if (nodes_.size() == 1 || tree_.tiers() == 1) return true;
        const std::uint32_t by = across / ranks_per_node_, first = tree_.subtree(nodes_.front() + by, 0, 1);
        return std::ranges::all_of(nodes_, [&](std::uint32_t n) { return tree_.subtree(n + by, 0, 1) == first; });
    }
    bool may_be_on_one_switch() const { return nodes_.size() <= most_looked_at || tree_.tiers() == 1; }
    // Whether one of these nodes is in the sample.
    bool touch(const FabricSample& sample, std::uint32_t across) const {
        const std::uint32_t by = across / ranks_per_node_;
        return std::ranges::any_of(nodes_, [&](std::uint32_t node) { return sample.weight(0, node + by) > 0; });
    }

  private:
    static constexpr std::size_t most_looked_at = 64;  // a group on more nodes is on several switches, or one of few

    const RouteTree& tree_;
    std::uint32_t ranks_per_node_;
    std::vector<std::uint32_t> nodes_;
};

}  // namespace weft
