// For the search of channels: what they occupy of links, and how orders compare by that.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topologies/channel_search.hpp"

namespace weft {

// What an order costs on top of the channels laid so far. Less is better.
struct OrderCost {
    std::int64_t busiest = 0;   // occupancy of the busiest link of all, old channels included
    std::int64_t total = 0;     // of this channel alone
    std::int64_t crowding = 0;  // what channels before it occupy of the links that it uses
    auto operator<=>(const OrderCost&) const = default;
};

// Occupancy by link, for links renumbered from 0.
class Occupancy {
  public:
    Occupancy(std::size_t links, std::int64_t crowding_weight)
        : by_link_(links), before_(links), crowding_weight_(crowding_weight) {}

    std::int64_t busiest() const { return by_link_.empty() ? 0 : *std::max_element(by_link_.begin(), by_link_.end()); }
    OrderCost add(const HopUses& uses, OrderCost cost) {
        for (const LinkUse& use : uses) {
            std::int64_t& occupied = by_link_[index(use.link)];
            occupied += use.occupancy;
            cost.busiest = std::max(cost.busiest, occupied);
            cost.total += use.occupancy;
        }
        cost.crowding += crowding(uses);
        return cost;
    }
    void remove(const HopUses& uses) {
        for (const LinkUse& use : uses) by_link_[index(use.link)] -= use.occupancy;
    }
    void start_channel() { before_ = by_link_; }
    std::int64_t crowding(const HopUses& uses) const {
        std::int64_t sum = 0;
        for (const LinkUse& use : uses) sum += crowding_weight_ * before_[index(use.link)];
        return sum;
    }

  private:
    std::vector<std::int64_t> by_link_;
    std::vector<std::int64_t> before_;  // by link, before the channel that is being laid
    std::int64_t crowding_weight_;      // 0 where only busiest and total count
};

}  // namespace weft
