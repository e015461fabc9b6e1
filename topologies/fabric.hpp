// How a job finds the fabric of a machine: where its nodes are, how traffic is routed, what others send
// meanwhile, and which links are not as they should be.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/io/document.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// Links that carry less than the machine file says, or nothing, named as those who run a cluster know them.
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
// route.
std::vector<LinkId> links_of(const Topology& topology, const LinkFault& fault);

// Links with less bandwidth get a class of their own ("slingshot.nic (x 0.5)"), dead ones another ("slingshot.nic
// (dead)"), and routes avoid the dead. Where two faults meet, the worse counts. All faults name cables as they lie
// before any of them. Throws RangeError as links_of, for a share that is not from 0 to 1, and where no route is left
// between two ranks.
void add_link_faults(Topology& topology, std::span<const LinkFault> faults);

struct RouteChoice {
    // NOLINTNEXTLINE(google-explicit-constructor): a routing says all where nothing is hashed
    constexpr RouteChoice(Routing how = Routing::minimal, std::uint64_t hash_seed = 0)
        : routing(how), seed(hash_seed) {}
    Routing routing;
    std::uint64_t seed;  // of Routing::ecmp
    bool operator==(const RouteChoice&) const = default;
};

// "minimal", "ecmp", "ecmp:SEED" with a number of 64 bits, "valiant" or "adaptive".
std::optional<RouteChoice> find_routing(std::string_view text);
std::string to_text(const RouteChoice& choice);      // what find_routing() reads
std::string unknown_routing(std::string_view text);  // what was expected in its place
// `text` of the key "routing", where anything else is an error.
RouteChoice read_routing(Field& section, std::string_view text);

struct Fabric {
    std::optional<RouteChoice> routing{};    // absent: the machine's own
    std::vector<std::uint32_t> placement{};  // the machine's node that each node of the job is; empty: the first ones
    // By link class: the share of its bandwidth that other traffic takes, at least 0 and below 1. Packets wait for it,
    // too (see topologies/other_traffic).
    std::vector<std::pair<std::string, double>> background{};
    // Between switches others come as flows: with this probability, above 0 and below 1, none of the job's links is
    // busier with them than is taken. Absent: all links carry the average.
    std::optional<double> quantile{};
    std::vector<LinkFault> link_faults{};
    bool operator==(const Fabric&) const = default;
};

constexpr bool may_be_background(double share) { return share >= 0.0 && share < 1.0; }

// Other traffic on these link classes, but where something is said of one already.
void add_load(Fabric& fabric, double share, const std::vector<std::string>& link_classes);

// Whether there is any other traffic: on links of a class, on any links.
bool has_background(const Fabric& fabric, std::string_view link_class);
bool has_background(const Fabric& fabric);

}  // namespace weft
