// How routes lie on a machine whose nodes hang below switches: a tree of them, where the destination decides the way
// up, or any mesh.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/topology/route.hpp"

namespace weft {

// A message from one node to another.
struct Climb {
    std::uint32_t turn = 0;              // tiers of the network that it climbs before it comes down: 0 on one switch
    std::uint32_t leave = 0, enter = 0;  // numbers of the NICs by which it leaves its node and enters the other
    bool operator==(const Climb&) const = default;
};

// Tier 0 is the nodes, each with its own links and those between its NICs and the network. Tier t >= 1 is the subtrees
// of t levels of switches, each with the links from its top switches upwards and back. A message loads links of tier 0
// in both nodes, and of the tiers 1 .. turn in the subtrees of the ports by which it leaves and enters. Routes and
// detours alike: which link of a subtree this is, up or down, is told by way % ways(tier), and which of a node by the
// ends of the message in it and its NIC there. Subtrees of one tier have links of the same classes. Nodes whose first
// NICs are plugged into one switch have all NICs of one number on one switch.
//
// Of a mesh there are only the nodes: tier 0. A message that leaves its switch turns at 1, and passes links of the mesh
// besides, which its routes and detours tell and nothing else.
class RouteTree {
  public:
    virtual ~RouteTree() = default;
    virtual std::uint32_t tiers() const = 0;  // tier 0 included
    virtual std::uint32_t subtrees(std::uint32_t tier) const = 0;
    virtual std::uint32_t nics() const = 0;  // of a node
    // From each multiple of this on, so many nodes have their first NICs plugged into one switch.
    virtual std::uint32_t nodes_per_switch() const = 0;
    virtual std::uint64_t ways(std::uint32_t tier) const = 0;  // tier >= 1
    // Detour i of a message takes way + (i + 1) * detour_step(its turn).
    virtual std::uint64_t detour_step(std::uint32_t turn) const = 0;
    // Of the switch that NIC `nic` of `node` is plugged into; tier >= 1.
    virtual std::uint32_t subtree(std::uint32_t node, std::uint32_t nic, std::uint32_t tier) const = 0;
    // Of a message to another node, and the links of tier 0 in the node that it leaves, and in that which it enters.
    virtual Climb climb(RankId from, RankId to) const = 0;
    // To a rank, up and down, that salt 0 takes; salt s takes way + s (see detour_step). The sum of a number for the
    // node and one for the NIC that it enters by. 0 on a mesh.
    virtual std::uint64_t way(RankId to) const = 0;
    virtual Route leaving(RankId from, RankId to) const = 0;
    virtual Route entering(RankId from, RankId to) const = 0;

    struct Place {
        std::uint32_t tier = 0, subtree = 0;
    };
    // Of a subtree of switches, the link that a way takes up, or back down; and whether each of its ways has links of
    // its own.
    virtual LinkId link(Place place, std::uint64_t way, bool down) const = 0;
    virtual bool parts_ways(std::uint32_t tier) const = 0;
    // The links of a subtree, in ranges.
    struct Range {
        LinkId first{}, end{};
    };
    virtual std::vector<Range> links(Place place) const = 0;

    virtual bool has_mesh() const { return false; }
    virtual Range mesh() const { return {}; }  // its links
};

}  // namespace weft
