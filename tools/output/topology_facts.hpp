// What `weft topology` tells about a machine, as values: text, JSON and drawings are written from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/topology/topology.hpp"
#include "topologies/machine.hpp"
#include "topologies/vertex_names.hpp"

namespace weft {

struct ClassFacts {
    LinkClass link_class;
    std::uint32_t links = 0;  // directed
};

struct Hop {
    std::string from, to;  // names of vertices
    LinkClass link_class;
};

struct RouteFacts {
    std::string relation;  // "same package", ...
    RankId from{}, to{};
    std::vector<Hop> hops{};
    Seconds latency{};
    BytesPerSecond nominal{}, bandwidth{};  // of the narrowest link; 0 for a rank to itself
    std::vector<RouteFacts> detours{};      // over which traffic spreads as well, if they were asked for
};

struct RingFacts {
    std::vector<std::vector<RankId>> orders;
    BytesPerSecond nominal, bandwidth;  // of all orders together: orders / max(load / bandwidth of a link)
};

struct TopologyFacts {
    std::uint32_t nodes = 0, accelerators = 0, nics = 0, switches = 0;  // of the part that was built
    BytesPerSecond injection_nominal{}, injection_bandwidth{};          // of one node, one way
    std::vector<ClassFacts> classes;
    std::vector<std::vector<BytesPerSecond>> node_links;  // nominal, of direct links between accelerators of a node
    RingFacts node_rings;
    std::vector<RouteFacts> routes;
};

RouteFacts route_facts(const Topology& topology, const VertexNames& names, RankId from, RankId to,
                       std::string relation);

// The detours between two ranks; none where the fabric routes minimally.
std::vector<RouteFacts> detour_facts(const Topology& topology, const VertexNames& names, RankId from, RankId to);

// With routes of one pair per kind of path that the machine has: in a package, across packages, to the next node, past
// each neighbourhood of the network, and from end to end.
TopologyFacts topology_facts(const MachineInfo& machine, const Topology& topology);

std::string to_text(const RouteFacts& route);
std::string to_text(const MachineInfo& machine, const TopologyFacts& facts);

// SI units: bytes per second and seconds.
std::string to_json(const RouteFacts& route);
std::string to_json(const MachineInfo& machine, const TopologyFacts& facts);

}  // namespace weft
