// The search for rings inside one node: pure combinatorics over the links that each hop would load.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/table.hpp"

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
// leaves by the next; or those that use each link of a full mesh once (mesh_channels.hpp).
// Up to eight members, all orders are searched (branch and bound); beyond, the rotations of the given order and of its
// reverse.
std::vector<std::vector<std::uint32_t>> find_channels(const ChannelProblem& problem);

// The same with given ends, where the group leaves the node and has up to eight members in it: channel c comes in by
// the port of member ends[c].first, and leaves by another one, of member ends[c].second.
using ChannelEnds = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
std::vector<std::vector<std::uint32_t>> find_channels(const ChannelProblem& problem, const ChannelEnds& ends);
// Whether channels of one problem carry more than those of another.
bool carry_more(const ChannelProblem& problem, const std::vector<std::vector<std::uint32_t>>& channels,
                const ChannelProblem& other_problem, const std::vector<std::vector<std::uint32_t>>& others);
bool may_have_ends(const ChannelProblem& problem, const ChannelEnds& ends);

}  // namespace weft
