#include "tools/output/topology_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"
#include "tools/output/result_table.hpp"
#include "topologies/channels.hpp"

namespace weft {
namespace {

std::vector<ClassFacts> count_classes(const Topology& topology) {
    auto facts =
        list_of<ClassFacts>(topology.classes, [](const LinkClass& each) { return ClassFacts{.link_class = each}; });
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
    const auto node = numbers_below<RankId>(topology.ranks_per_node);
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

ResultTable classes_table(const std::vector<ClassFacts>& classes) {
    using Row = ClassFacts;
    return table_of<Row>(classes,
                         {{"class", "<class", inside(&Row::link_class, &LinkClass::name)},
                          {"", "links", &Row::links},
                          {"nominal_bytes_per_s", "nominal", inside(&Row::link_class, &LinkClass::nominal)},
                          {"bandwidth_bytes_per_s", "achievable", inside(&Row::link_class, &LinkClass::bandwidth)},
                          {"latency_s", "latency", inside(&Row::link_class, &LinkClass::latency)},
                          {"links", {}, &Row::links}});
}

ResultTable hops_table(const RouteFacts& route) {
    return table_of<Hop>(route.hops,
                         {{"from", "<from", &Hop::from},
                          {"to", "<to", &Hop::to},
                          {"class", "<link", inside(&Hop::link_class, &LinkClass::name)},
                          {"nominal_bytes_per_s", {}, inside(&Hop::link_class, &LinkClass::nominal)},
                          {"bandwidth_bytes_per_s", "achievable", inside(&Hop::link_class, &LinkClass::bandwidth)},
                          {"latency_s", "latency", inside(&Hop::link_class, &LinkClass::latency)}});
}

std::string classes_text(const TopologyFacts& facts) {
    const auto used = list_of_those<ClassFacts>(facts.classes, [](const ClassFacts& row) { return row.links > 0; });
    return "\nLinks (counted and measured one way)\n" + table_text(classes_table(used), 2);
}

std::string node_links_text(const TopologyFacts& facts) {
    const bool direct =
        std::ranges::any_of(facts.node_links, [](const auto& row) { return std::ranges::max(row) > BytesPerSecond{}; });
    if (!direct) return "\nInside a node: no direct links, all accelerators meet in the node's switch\n";
    std::vector<std::string> headings{""};
    for (std::size_t i = 0; i < facts.node_links.size(); ++i) headings.push_back(fmt::to_string(i));
    TextTable table(headings);
    for (std::size_t i = 0; i < facts.node_links.size(); ++i) {
        std::vector<std::string> cells{fmt::to_string(i)};
        for (const BytesPerSecond rate : facts.node_links[i]) {
            cells.push_back(rate > BytesPerSecond{} ? fmt::format("{:g}", rate.value / 1e9) : ".");
        }
        table.add(std::move(cells));
    }
    return fmt::format("\nDirect links inside a node (GB/s nominal, one way)\n{}", table.text(2));
}

constexpr std::size_t widest = 120;  // line of ranks

std::string rings_text(const RingFacts& rings) {
    if (rings.orders.empty() || rings.orders.front().size() < 2) return {};
    std::string text = fmt::format("\nRings inside a node: together {} nominal, {} achievable\n",
                                   to_text(rings.nominal), to_text(rings.bandwidth));
    for (const std::vector<RankId>& order : rings.orders) {
        std::string line = " ";
        for (const RankId rank : order) {
            const std::string next = fmt::format(" {}", index(rank));
            if (line.size() + next.size() > widest) {
                text += line + "\n";
                line = "   ";  // the ring goes on
            }
            line += next;
        }
        text += line + "\n";
    }
    return text;
}

Json route_json(const RouteFacts& route) {
    Json json{{"relation", route.relation},
              {"from", index(route.from)},
              {"to", index(route.to)},
              {"latency_s", route.latency.value},
              {"nominal_bytes_per_s", route.nominal.value},
              {"bandwidth_bytes_per_s", route.bandwidth.value},
              {"hops", table_json(hops_table(route))}};
    for (const RouteFacts& detour : route.detours) json["detours"].push_back(route_json(detour));
    return json;
}

}  // namespace

static RouteFacts facts_of(const Route& route, const Topology& topology, const VertexNames& names, RankId from,
                           RankId to, std::string relation) {
    RouteFacts facts{.relation = std::move(relation), .from = from, .to = to, .latency = topology.latency(route)};
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

static std::vector<RouteFacts> sample_routes(const MachineInfo& machine, const Topology& topology) {
    const VertexNames names(topology);
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
    TopologyFacts facts{.nodes = topology.ranks / topology.ranks_per_node,
                        .accelerators = topology.ranks,
                        .nics = topology.vertices_of(NodeKind::nic),
                        .switches = topology.vertices_of(NodeKind::network_switch),
                        .classes = count_classes(topology),
                        .node_links = direct_links(topology),
                        .node_rings = lay_rings(topology),
                        .routes = sample_routes(machine, topology)};
    add_injection(facts, topology);
    return facts;
}

std::string to_text(const RouteFacts& route) {
    std::string text = fmt::format("\nRank {} to rank {}{}{}: ", index(route.from), index(route.to),
                                   route.relation.empty() ? "" : ", ", route.relation);
    if (route.hops.empty()) return text + "the same accelerator\n";
    text += fmt::format("{} {}, latency {}, at most {} ({} nominal)\n", route.hops.size(),
                        route.hops.size() == 1 ? "hop" : "hops", to_text(route.latency), to_text(route.bandwidth),
                        to_text(route.nominal));
    text += table_text(hops_table(route), 2);
    for (const RouteFacts& detour : route.detours) text += to_text(detour);
    return text;
}

std::string to_text(const MachineInfo& machine, const TopologyFacts& facts) {
    TextTable figures({"<", "<"});
    figures.add({"nodes", fmt::format("{} {} {}", facts.nodes,
                                      facts.nodes > machine.nodes ? "more than the described" : "of", machine.nodes)});
    figures.add({"accelerators", fmt::format("{} ({}; {} per node)", facts.accelerators, machine.device,
                                             machine.accelerators_per_node)});
    figures.add({"NICs", fmt::format("{} ({} per node)", facts.nics, machine.nics_per_node)});
    figures.add({"switches", fmt::to_string(facts.switches)});
    figures.add({"injection of a node", fmt::format("{} nominal, {} achievable", to_text(facts.injection_nominal),
                                                    to_text(facts.injection_bandwidth))});
    figures.add({"bisection of the whole machine", fmt::format("{} nominal", to_text(machine.bisection))});
    std::string text = figures.text(2);
    text.erase(0, text.find('\n') + 1);  // the headings are blank
    text.insert(0, fmt::format("{}: {}\n", machine.name, machine.title));
    text += classes_text(facts) + node_links_text(facts) + rings_text(facts.node_rings);
    for (const RouteFacts& route : facts.routes) text += to_text(route);
    return text;
}

std::string to_json(const RouteFacts& route) { return json_text(route_json(route)); }

std::string to_json(const MachineInfo& machine, const TopologyFacts& facts) {
    Json json{{"machine", machine.name},
              {"title", machine.title},
              {"device", machine.device},
              {"library", machine.library().name},
              {"nodes", facts.nodes},
              {"machine_nodes", machine.nodes},
              {"accelerators", facts.accelerators},
              {"nics", facts.nics},
              {"switches", facts.switches},
              {"injection_nominal_bytes_per_s", facts.injection_nominal.value},
              {"injection_bytes_per_s", facts.injection_bandwidth.value},
              {"bisection_nominal_bytes_per_s", machine.bisection.value}};
    json["links"] = table_json(classes_table(facts.classes));
    json["node_links_nominal_bytes_per_s"] = json_list<Json>(facts.node_links, [](const auto& row) {
        return json_list<Json>(row, [](BytesPerSecond rate) { return rate.value; });
    });
    json["node_rings"] = {{"orders", facts.node_rings.orders},
                          {"nominal_bytes_per_s", facts.node_rings.nominal.value},
                          {"bandwidth_bytes_per_s", facts.node_rings.bandwidth.value}};
    json["routes"] = json_list<Json>(facts.routes, [](const RouteFacts& route) { return route_json(route); });
    return json_text(json);
}

}  // namespace weft
