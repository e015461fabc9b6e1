// A machine, or one route, for people and for programs.
#pragma once

#include <string>

#include "tools/output/topology_facts.hpp"

namespace weft {

std::string to_text(const RouteFacts& route);
std::string to_text(const MachineInfo& machine, const TopologyFacts& facts);

// SI units: bytes per second and seconds.
std::string to_json(const RouteFacts& route);
std::string to_json(const MachineInfo& machine, const TopologyFacts& facts);

}  // namespace weft
