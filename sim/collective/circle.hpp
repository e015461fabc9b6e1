// The links of a subtree of switches that lead up, or those that lead back down, as a circle: of the ways of its tier,
// each of which leads over one of them (RouteTree).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/topology/route_tree.hpp"

namespace weft {

struct Circle {
    RouteTree::Place place;
    bool down = false;
};

// All circles of a tree by number: those of a tier follow those of the tier below.
class Circles {
  public:
    // `tree` must outlive this.
    explicit Circles(const RouteTree& tree)
        : tree_(tree), on_switch_(tree.nodes_per_switch()), row_(tree.nics() * (tree.tiers() - 1)) {
        subtrees_.assign((tree.subtrees(0) + on_switch_ - 1) / on_switch_ * row_, unknown);
        for (std::uint32_t tier = 1; tier < tree.tiers(); ++tier) {
            first_.push_back(size_);
            ways_.push_back(tree.ways(tier));
            size_ += 2 * tree.subtrees(tier);
        }
    }
    std::uint32_t size() const { return size_; }
    std::uint32_t of(std::uint32_t tier, std::uint32_t subtree, bool down) const {
        return first_[tier - 1] + 2 * subtree + (down ? 1 : 0);
    }
    std::uint32_t tier(std::uint32_t circle) const {
        std::uint32_t tier = static_cast<std::uint32_t>(first_.size());
        while (circle < first_[tier - 1]) --tier;
        return tier;
    }
    Circle operator[](std::uint32_t circle) const {
        const std::uint32_t t = tier(circle), in_tier = circle - first_[t - 1];
        return {.place = {t, in_tier / 2}, .down = in_tier % 2 != 0};
    }
    std::uint64_t ways(std::uint32_t circle) const { return ways_of_tier(tier(circle)); }
    std::uint64_t ways_of_tier(std::uint32_t tier) const { return ways_[tier - 1]; }
    // As RouteTree::subtree, which is asked once for all nodes on a switch.
    std::uint32_t subtree(std::uint32_t node, std::uint32_t nic, std::uint32_t tier) const {
        return subtrees(node)[nic * first_.size() + tier - 1];
    }
    // The same of all NICs of a node, one by one, by tier from 1: NIC n in tier t at n * (tiers of the tree - 1) + t
    // - 1.
    std::span<const std::uint32_t> subtrees(std::uint32_t node) const {
        const std::span<std::uint32_t> row = std::span(subtrees_).subspan(node / on_switch_ * row_, row_);
        if (!row.empty() && row.front() == unknown) look_up(node, row.data());
        return row;
    }

  private:
    static constexpr std::uint32_t unknown = 0xffffffff;
    void look_up(std::uint32_t node, std::uint32_t* row) const {
        for (std::uint32_t nic = 0; nic < tree_.nics(); ++nic) {
            for (std::uint32_t tier = 1; tier <= first_.size(); ++tier) *row++ = tree_.subtree(node, nic, tier);
        }
    }

    const RouteTree& tree_;
    std::uint32_t on_switch_, row_;
    mutable std::vector<std::uint32_t> subtrees_;  // switch by switch of first NICs
    std::vector<std::uint32_t> first_;             // by tier
    std::vector<std::uint64_t> ways_;              // likewise
    std::uint32_t size_ = 0;
};

}  // namespace weft
