// What a complete exchange puts on the links of a dragonfly, counted by switches and cables.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/topology/topology.hpp"
#include "topologies/blocks/dragonfly_wires.hpp"

namespace weft::blocks {

// A port by which some send and receive: its node, its switch, and what it adds to the number of the cable that
// messages take between two groups, in the group with the lower number or in the other one.
struct DragonflyUse {
    std::uint32_t node = 0, leaf = 0;
    std::uint32_t as_low = 0, as_high = 0;  // below `cables`
    double senders = 0, receivers = 0;
};

// `turn` is added to the number of every cable.
void add_dragonfly_exchange(const DragonflyWires& wires, const std::vector<DragonflyUse>& uses, std::uint32_t turn,
                            Router::Ways ways, Seconds local, Seconds global, ExchangeSink& sink);

}  // namespace weft::blocks
