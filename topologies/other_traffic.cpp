#include "topologies/other_traffic.hpp"

#include <algorithm>
#include <boost/math/distributions/poisson.hpp>
#include <cmath>

namespace weft {
namespace {

// Real numbers of flows, up to one below the whole ones, so that a little more traffic never takes a whole flow more.
// In long double, as by default, functions are set up to digits that not all have: under valgrind that threw.
namespace policies = boost::math::policies;
using Smooth = policies::policy<policies::discrete_quantile<policies::real>, policies::promote_double<false>>;

// How routes of a job cross the links of a class between switches.
struct Passing {
    std::uint32_t times = 0;  // by one route, at most
    std::uint32_t ways = 1;   // over which a flow is spread at least
};

// As the routes of rank 0's node to nodes ever farther off do.
Table<LinkClassId, Passing> passings(const Topology& topology) {
    Table<LinkClassId, Passing> all(topology.classes.size(), Passing{});
    const std::uint32_t nodes = topology.ranks / topology.ranks_per_node;
    for (std::uint32_t node = 1; node < nodes; node = node + 1 < nodes ? std::min(2 * node, nodes - 1) : nodes) {
        const RankId from{0}, to{node * topology.ranks_per_node};
        const std::uint32_t ways = uses_detours(topology.routing) ? topology.router->detours(from, to) + 1 : 1;
        Table<LinkClassId, std::uint32_t> times(topology.classes.size(), 0);
        const Route route = topology.route(from, to);
        for (const LinkId link : route.links()) {
            if (!topology.joins_switches(link)) continue;
            const LinkClassId link_class = topology.link_class(link);
            Passing& passing = all[link_class];
            passing.ways = passing.times == 0 ? ways : std::min(passing.ways, ways);
            passing.times = std::max(passing.times, ++times[link_class]);
        }
    }
    return all;
}

Encounter encounter_on(const Topology& topology, LinkClassId id, double share, const Passing& passing,
                       BytesPerSecond port) {
    const double ways = passing.ways, sets = topology.links_of_class()[id] / ways;
    const std::uint32_t nics = topology.vertices_of(NodeKind::nic);
    const double ports = nics > 0 ? nics : topology.ranks;
    return {.share = share,
            .flow = std::min(1.0, port / topology.classes[id].bandwidth),
            .ways = ways,
            .places = std::max(1.0, std::min(sets, ports * passing.times))};
}

}  // namespace

Leftover leftover(const Encounter& encounter, BytesPerSecond bandwidth, std::optional<double> p) {
    const auto [share, flow, ways, places] = encounter;
    const Seconds mean = waiting_time(share, bandwidth);
    if (!p || share == 0.0) return {1.0 - share, mean};
    const double above = -std::expm1(std::log(*p) / places);  // of one place, that it is worse
    const boost::math::poisson_distribution<double, Smooth> flows(ways * share / flow);
    const double met = std::max(0.0, boost::math::quantile(boost::math::complement(flows, above)));
    // share * exp(-t / (mean / share)) of all packets wait longer than t.
    const Seconds waiting = mean / share * std::max(0.0, std::log(share / above));
    return {std::max(1.0 - met * flow / ways, ways / (met + ways)), waiting};
}

void add_other_traffic(Topology& topology, const Fabric& fabric) {
    if (fabric.background.empty()) return;
    // Nothing passes where only the average is asked for.
    const auto all = fabric.quantile ? passings(topology) : Table<LinkClassId, Passing>(topology.classes.size());
    const BytesPerSecond port = topology.link(topology.router->uplink(RankId{0})).bandwidth;
    for (const auto& [name, share] : fabric.background) {
        LinkClassId id{};
        while (id != topology.classes.end_id() && topology.classes[id].name != name) id = next(id);
        if (id == topology.classes.end_id()) {
            throw RangeError("{} has no link class \"{}\" for background traffic", topology.name, name);
        }
        if (!may_be_background(share)) {
            throw RangeError("background traffic takes a share from 0 to below 1, not {}", share);
        }
        LinkClass& link = topology.classes[id];
        const Leftover left = all[id].times > 0 ? leftover(encounter_on(topology, id, share, all[id], port),
                                                           link.bandwidth, fabric.quantile)
                                                : leftover({.share = share}, link.bandwidth, std::nullopt);
        link.latency += left.waiting;
        link.bandwidth *= left.bandwidth;
    }
}

}  // namespace weft
