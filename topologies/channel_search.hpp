// The search for rings inside one node: pure combinatorics over the links that each hop would load.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/topology/topology.hpp"

namespace weft {

// Time that a byte occupies a link, as an integer, so that sums are exact and equal means equal.
struct LinkUse {
    LinkId link{};
    std::int64_t occupancy = 0;
};
using HopUses = std::vector<LinkUse>;

// The members of one node, numbered from 0, and what every step of a channel through them occupies.
struct ChannelProblem {
    std::uint32_t members = 0;
    std::vector<HopUses> hop;           // members x members: from one member to another
    std::vector<HopUses> enter, leave;  // by member; empty lists for a group inside one node
    std::vector<LinkId> port;           // by member: the link by which it leaves the node

    bool across() const { return !enter.empty(); }
};

// Orders of the members, one per channel: closed rings inside a node (starting at member 0), open paths where the
// channel comes in from another node and goes on to the next.
//
// Channels are chosen one after another. Each is the order that keeps the busiest link least occupied, then has the
// least occupancy in all, then (up to six members) uses links that earlier ones use least, then is the first in
// lexicographic order; paths leave by another port than they come in by where the members have several. The last is the
// one after which another would not raise what they carry together, nor (up to six members) several by a third.
// Where more is carried so, there is one channel for each port, or for each of the fastest, that comes in by it and
// leaves by the next; or those that use each link of a full mesh once (mesh_paths).
// Up to eight members, all orders are searched (branch and bound); beyond, the rotations of the given order and of its
// reverse.
std::vector<std::vector<std::uint32_t>> find_channels(const ChannelProblem& problem);

// The same with given ends: channel c comes in by the port of member ends[c].first, and leaves by another one, of
// member ends[c].second. Nothing where the group does not leave the node, has more than eight members in it, or ends
// are one.
using ChannelEnds = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
std::optional<std::vector<std::vector<std::uint32_t>>> find_channels(const ChannelProblem& problem,
                                                                     const ChannelEnds& ends);
// Whether channels of one problem carry more than those of another.
bool carry_more(const ChannelProblem& problem, const std::vector<std::vector<std::uint32_t>>& channels,
                const ChannelProblem& other_problem, const std::vector<std::vector<std::uint32_t>>& others);

// Channels through accelerators that are all joined to one another: every link once.
// n - 1 closed rings of n members, which together pass from each to each other once (Tillson, "A Hamiltonian
// decomposition of K*2m, 2m >= 8", J. Combin. Theory B 29 (1980) 68-74: there are such for all n but 4 and 6). Empty
// where there are none, or where n is above 8.
std::vector<std::vector<std::uint32_t>> mesh_rings(std::uint32_t n);

// n paths of n members, n even, which together do the same; each begins and ends at other members (Williams,
// "Experimental designs balanced for the estimation of residual effects", Austral. J. Sci. Res. A 2 (1949) 149-168).
// Empty for odd n.
std::vector<std::vector<std::uint32_t>> mesh_paths(std::uint32_t n);

// For the search of channels: what they occupy of links, and how orders compare by that.

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
        return sum_of<std::int64_t>(uses,
                                    [this](const LinkUse& use) { return crowding_weight_ * before_[index(use.link)]; });
    }

  private:
    std::vector<std::int64_t> by_link_;
    std::vector<std::int64_t> before_;  // by link, before the channel that is being laid
    std::int64_t crowding_weight_;      // 0 where only busiest and total count
};

}  // namespace weft
