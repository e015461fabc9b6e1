// `weft topology MACHINE`: what a machine is made of, and how its parts reach one another.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <string>

#include "tools/command.hpp"
#include "tools/options.hpp"
#include "tools/output/topology_facts.hpp"
#include "topologies/machine.hpp"

namespace weft::commands {
namespace {

void topology_options(po::options_description& options, po::positional_options_description& positional) {
    options.add_options()("machine", po::value<std::string>()->required()->value_name("MACHINE"),
                          "a shipped machine, or the path of a machine file")(
        "nodes", count_value("N"), "only the first N nodes (default: all; 2 for --dot and --graphml)")(
        "route", text_value("A,B"), "only the route from rank A to rank B")(
        "dot", po::bool_switch(), "a drawing for Graphviz of the nodes and what lies between them")(
        "all", po::bool_switch(), "in it, all switches of the network")(
        "graphml", po::bool_switch(), "the graph as GraphML")("json", po::bool_switch(), "machine-readable output");
    add_fabric_options(options);
    positional.add("machine", 1);
}

constexpr std::uint32_t nodes_drawn = 2;

std::uint32_t nodes_asked(const po::variables_map& arguments, const MachineInfo& machine) {
    if (const auto nodes = count_option(arguments, {"nodes"})) return *nodes;
    const bool drawn = given(arguments, "dot") || given(arguments, "graphml");
    return drawn ? std::min(nodes_drawn, machine.nodes) : machine.nodes;
}

RankId read_rank(std::string_view text, std::uint32_t ranks) {
    std::uint32_t rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error != std::errc{} || end != text.data() + text.size() || rank >= ranks) {
        throw po::error(
            fmt::format("--route: expected two ranks from 0 to {}, as in 0,9; got \"{}\"", ranks - 1, text));
    }
    return RankId(rank);
}

RouteFacts route_asked(std::string_view pair, const Topology& topology) {
    const std::size_t comma = pair.find(',');
    const RankId from = read_rank(pair.substr(0, comma), topology.ranks);
    const RankId to = read_rank(comma == pair.npos ? "" : pair.substr(comma + 1), topology.ranks);
    const VertexNames names(topology);
    RouteFacts route = route_facts(topology, names, from, to, "");
    route.detours = detour_facts(topology, names, from, to);
    return route;
}

Exit run_topology(const po::variables_map& arguments) {
    const Machine machine = Machine::load(arguments["machine"].as<std::string>());
    MachineInfo info = machine.info();
    const std::uint32_t nodes = nodes_asked(arguments, info);
    // Too many nodes are reported by topology().
    const Fabric fabric = nodes <= info.nodes ? fabric_option(arguments, info, nodes) : Fabric{};
    const Topology topology = machine.topology(nodes, fabric);
    // Nodes that follow one another in a placed job need not be neighbours.
    if (!fabric.placement.empty()) info.neighbourhoods.clear();
    const bool json = given(arguments, "json");
    if (given(arguments, "all") && !given(arguments, "dot")) throw po::error("--all is of the drawing (--dot)");
    if (given(arguments, "dot")) {
        fmt::print("{}", to_graphviz(topology, given(arguments, "all") ? Drawn::all : Drawn::used));
    } else if (given(arguments, "graphml")) {
        fmt::print("{}", to_graphml(topology));
    } else if (arguments.count("route") > 0) {
        const RouteFacts route = route_asked(arguments["route"].as<std::string>(), topology);
        fmt::print("{}", json ? to_json(route) : to_text(route).substr(1));  // no blank line before the first
    } else {
        const TopologyFacts facts = topology_facts(info, topology);
        fmt::print("{}", json ? to_json(info, facts) : to_text(info, facts));
    }
    return Exit::ok;
}

}  // namespace

extern const Command topology;
const Command topology{
    .name = "topology",
    .summary = "figures, routes and drawings of a machine",
    .usage =
        "weft topology MACHINE [--nodes N] [--route A,B] [--placement P] [--routing R] "
        "[--background CLASS=SHARE]... [--dot [--all] | --graphml] [--json]",
    .details =
        "Shows a route for every kind of pair: in a package, across packages, to the next node and past each\n"
        "neighbourhood of the network. Bandwidths and counts are one way. --route shows the detours, too, where the\n"
        "fabric does not route minimally.\n\n"
        "  weft topology frontier\n"
        "  weft topology frontier --route 0,1025\n"
        "  weft topology frontier --nodes 8 --placement scatter:4 --route 0,8\n"
        "  weft topology frontier --nodes 1 --dot | dot -Tsvg > node.svg",
    .options = topology_options,
    .run = run_topology,
    .group = CommandGroup::inspect,
};

}  // namespace weft::commands
