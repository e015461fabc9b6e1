// The search for rings inside one node: pure combinatorics over the links that each hop would load.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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

RankId rank_at(const Topology& topology, std::uint32_t node, std::uint32_t local);

// That of a group with these accelerators of a node, ascending. `outside`: any rank of it on another node; none for a
// group inside one node.
ChannelProblem problem_of(const Topology& topology, const Router& router, std::uint32_t node,
                          std::span<const std::uint32_t> locals, std::optional<RankId> outside);

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

}  // namespace weft
