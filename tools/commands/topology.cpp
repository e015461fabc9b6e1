// `weft topology MACHINE`: what a machine is made of, and how its parts reach one another.
#include <string>

#include "sim/base/texts.hpp"
#include "tools/command.hpp"
#include "tools/output/topology_facts.hpp"
#include "topologies/machine.hpp"

namespace weft::commands {
namespace {

RankId read_rank(std::string_view text, std::uint32_t ranks) {
    if (const auto rank = parse_as<std::uint32_t>(text); rank && *rank < ranks) return RankId(*rank);
    throw OptionError("--route: expected two ranks from 0 to {}, as in 0,9; got \"{}\"", ranks - 1, text);
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

Answer run_topology(const po::variables_map& arguments) {
    const Machine machine = Machine::load(arguments["machine"].as<std::string>());
    MachineInfo info = machine.info();
    const std::uint32_t nodes = count_option(arguments, {"nodes"}).value_or(info.nodes);
    // Too many nodes are reported by topology().
    const Fabric fabric = nodes <= info.most_nodes ? fabric_option(arguments, info, nodes) : Fabric{};
    const Topology topology = machine.topology(nodes, fabric);
    // Nodes that follow one another in a placed job need not be neighbours.
    if (!fabric.placement.empty()) info.neighbourhoods.clear();
    const bool json = given(arguments, "json");
    if (arguments.count("route") > 0) {
        const RouteFacts route = route_asked(arguments["route"].as<std::string>(), topology);
        return {json ? to_json(route) : to_text(route).substr(1)};  // no blank line before the first
    }
    const TopologyFacts facts = topology_facts(info, topology);
    return {json ? to_json(info, facts) : to_text(info, facts)};
}

}  // namespace

extern const Command topology{.name = "topology", .run = run_topology, .group = CommandGroup::inspect};

}  // namespace weft::commands
