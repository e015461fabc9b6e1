// Links that carry less than the machine file says, or nothing, named as those who run a cluster know them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sim/topology/topology.hpp"

namespace weft {

// The cable between a NIC and the network. Nodes are those of the job, as ranks are.
struct NicCable {
    std::uint32_t node = 0, nic = 0;
    bool operator==(const NicCable&) const = default;
};

// The cables of the route from one rank to another (salt 0: the one that `weft topology --route` shows).
struct RouteCables {
    RankId from{}, to{};
    std::string link_class{};  // only those of this class; empty: all
    bool operator==(const RouteCables&) const = default;
};

struct LinkFault {
    std::variant<NicCable, RouteCables> where{};
    double share = 1.0;  // of its bandwidth that a cable has left, in both directions; 0: it is dead
    bool operator==(const LinkFault&) const = default;
};

// Both directions of every cable meant, ascending. Throws RangeError: no such node, NIC or rank, or no such link on the
// way.
std::vector<LinkId> links_of(const Topology& topology, const LinkFault& fault);

// Links with less bandwidth get a class of their own ("slingshot.nic (x 0.5)"), dead ones another ("slingshot.nic
// (dead)"), and routes avoid the dead. Where two faults meet, the worse counts. All faults name cables as they lie
// before any of them. Throws RangeError as links_of, for a share that is not from 0 to 1, and where no way is left
// between two ranks.
void add_link_faults(Topology& topology, std::span<const LinkFault> faults);

}  // namespace weft
