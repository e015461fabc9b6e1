#include "tools/output/topology_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "topologies/channels.hpp"

namespace weft {

namespace {

std::vector<ClassFacts> count_classes(const Topology& topology) {
    std::vector<ClassFacts> facts;
    for (const LinkClass& link_class : topology.classes) facts.push_back({.link_class = link_class});
    const Table<LinkClassId, std::uint32_t> links = topology.links_of_class();
    for (std::size_t i = 0; i < facts.size(); ++i) facts[i].links = links.rows()[i];
    return facts;
}

std::vector<std::vector<BytesPerSecond>> direct_links(const Topology& topology) {
    const std::uint32_t n = topology.ranks_per_node;
    std::vector<std::vector<BytesPerSecond>> matrix(n, std::vector<BytesPerSecond>(n));
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        const auto local = [&](NodeId vertex) {
            std::uint32_t rank = 0;
            while (rank < n && topology.endpoint(RankId{rank}) != vertex) ++rank;
            return rank;
        };
        const LinkEnds ends = topology.ends(link);
        const std::uint32_t from = local(ends.tail), to = local(ends.head);
        if (from < n && to < n) matrix[from][to] += topology.link(link).nominal;
    }
    return matrix;
}

RingFacts lay_rings(const Topology& topology) {
    std::vector<RankId> node;
    for (std::uint32_t i = 0; i < topology.ranks_per_node; ++i) node.push_back(RankId(i));
    RingFacts facts;
    facts.orders = ChannelPlanner(topology).lay(node, Order::rings).channels;
    if (node.size() < 2) return facts;
    std::map<LinkId, double> loads;
    for (const std::vector<RankId>& order : facts.orders) {
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Route route = topology.route(order[i], order[(i + 1) % order.size()]);
            for (const LinkId link : route.links()) loads[link] += 1.0;
        }
    }
    facts.nominal = facts.bandwidth = {std::numeric_limits<double>::infinity()};
    for (const auto& [link, load] : loads) {
        const double share = static_cast<double>(facts.orders.size()) / load;
        facts.nominal = std::min(facts.nominal, topology.link(link).nominal * share);
        facts.bandwidth = std::min(facts.bandwidth, topology.link(link).bandwidth * share);
    }
    return facts;
}

void add_injection(TopologyFacts& facts, const Topology& topology) {
    std::set<LinkId> ports;
    for (std::uint32_t i = 0; i < topology.ranks_per_node; ++i) ports.insert(topology.router->uplink(RankId(i)));
    for (const LinkId port : ports) {
        facts.injection_nominal += topology.link(port).nominal;
        facts.injection_bandwidth += topology.link(port).bandwidth;
    }
}

}  // namespace

static RouteFacts facts_of(const Route& route, const Topology& topology, const VertexNames& names, RankId from,
                           RankId to, std::string relation) {
    RouteFacts facts{.relation = std::move(relation),
                     .from = from,
                     .to = to,
                     .hops = {},
                     .latency = {},
                     .nominal = {},
                     .bandwidth = {}};
    facts.latency = topology.latency(route);
    for (const LinkId link : route.links()) {
        const LinkClass& link_class = topology.link(link);
        facts.hops.push_back({names[topology.tail(link)], names[topology.head(link)], link_class});
        const bool first = facts.hops.size() == 1;
        facts.nominal = first ? link_class.nominal : std::min(facts.nominal, link_class.nominal);
        facts.bandwidth = first ? link_class.bandwidth : std::min(facts.bandwidth, link_class.bandwidth);
    }
    return facts;
}

RouteFacts route_facts(const Topology& topology, const VertexNames& names, RankId from, RankId to,
                       std::string relation) {
    return facts_of(topology.route(from, to), topology, names, from, to, std::move(relation));
}

std::vector<RouteFacts> detour_facts(const Topology& topology, const VertexNames& names, RankId from, RankId to) {
    std::vector<RouteFacts> facts;
    const std::uint32_t count = uses_detours(topology.routing) ? topology.router->detours(from, to) : 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        facts.push_back(facts_of(topology.router->detour(from, to, 0, i), topology, names, from, to,
                                 fmt::format("detour {} of {}", i + 1, count)));
    }
    return facts;
}

std::vector<RouteFacts> sample_routes(const MachineInfo& machine, const Topology& topology, const VertexNames& names) {
    std::vector<RouteFacts> routes;
    const auto add = [&](std::uint32_t to, std::string relation) {
        if (to >= topology.ranks) return;
        routes.push_back(route_facts(topology, names, RankId{0}, RankId(to), std::move(relation)));
    };
    if (machine.accelerators_per_package > 1) add(1, "same package");
    if (machine.accelerators_per_node > machine.accelerators_per_package) {
        add(machine.accelerators_per_node - 1, machine.accelerators_per_package > 1 ? "across packages" : "same node");
    }
    add(machine.accelerators_per_node, "next node");
    for (const std::uint32_t nodes : machine.neighbourhoods) {
        add(nodes * machine.accelerators_per_node, fmt::format("past a neighbourhood of {} nodes", nodes));
    }
    if (topology.ranks > machine.accelerators_per_node) add(topology.ranks - 1, "first and last rank");
    return routes;
}

TopologyFacts topology_facts(const MachineInfo& machine, const Topology& topology) {
    TopologyFacts facts;
    facts.nodes = topology.ranks / topology.ranks_per_node;
    facts.accelerators = topology.ranks;
    facts.nics = topology.vertices_of(NodeKind::nic);
    facts.switches = topology.vertices_of(NodeKind::network_switch);
    add_injection(facts, topology);
    facts.classes = count_classes(topology);
    facts.node_links = direct_links(topology);
    facts.node_rings = lay_rings(topology);
    facts.routes = sample_routes(machine, topology, VertexNames(topology));
    return facts;
}

}  // namespace weft
