// A topology as a file for graph tools.
#pragma once

#include <string>

#include "sim/topology/topology.hpp"

namespace weft {

// Graphviz, one undirected edge per cable: readable for a node or two.
std::string to_graphviz(const Topology& topology);
// GraphML, every directed link, with class, nominal and achievable bandwidth (bytes/s) and latency (s).
std::string to_graphml(const Topology& topology);

}  // namespace weft
