// The links of a subtree of switches that lead up, or those that lead back down, as a circle: of the ways of its tier,
// each of which leads over one of them (RouteTree).
#pragma once

#include <cstdint>
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
    explicit Circles(const RouteTree& tree) {
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
    std::uint64_t ways(std::uint32_t circle) const { return ways_[tier(circle) - 1]; }

  private:
    std::vector<std::uint32_t> first_;  // by tier
    std::vector<std::uint64_t> ways_;   // likewise
    std::uint32_t size_ = 0;
};

}  // namespace weft
