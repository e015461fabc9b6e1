// What a whole algorithm costs communicators that run it in lock step.
#pragma once

#include <span>
#include <vector>

#include "sim/cost/cost.hpp"

namespace weft {

inline std::vector<PhaseCost> cost(const Algorithm& algorithm, const GroupShape& shape,
                                   std::span<const Communicator> communicators, const Topology& topology,
                                   const Library& library, const ProtocolCost& protocol) {
    if (shape.members < 2) return {{.launch = library.launch + protocol.launch}};
    const auto cost_of = [&](const Phase& phase) { return cost(phase, communicators, topology, protocol); };
    return cost(algorithm.phases(shape), cost_of, library, protocol);
}

}  // namespace weft
