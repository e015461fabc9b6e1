// A topology as a file for graph tools.
#pragma once

#include <cstdint>
#include <string>

#include "sim/topology/topology.hpp"

namespace weft {

// used: nodes, their cables into the network, and of its switches and cables those on routes between ranks (salt 0, no
// detours). The label says how many switches that leaves out.
enum class Drawn : std::uint8_t { used, all };

// Graphviz, one undirected edge per cable: readable for a node or two.
std::string to_graphviz(const Topology& topology, Drawn drawn = Drawn::used);
// GraphML, every directed link, with class, nominal and achievable bandwidth (bytes/s) and latency (s).
std::string to_graphml(const Topology& topology);

}  // namespace weft
