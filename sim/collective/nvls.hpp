// Collectives by a switch that reads, adds and copies (NVLink SHARP). Member i is in charge of piece i: reading it
// reduced (multimem.ld_reduce), the switch fetches it from all members and hands on one sum; storing it (multimem.st),
// the switch copies it to all. So with every reduced read each member sends the whole message and receives 1/n of it,
// and with every store the reverse (NVIDIA, PTX ISA, "multimem"; Klenk et al., "An in-network architecture for
// accelerating shared-memory multiprocessor collectives", ISCA 2020, 996-1009).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {

inline bool is_one_node(const GroupShape& shape) { return shape.nodes == 1; }

// What the busier direction of a member's links carries, as traffic to a neighbour through the switch.
inline Phase switch_phase(double fraction, std::uint32_t hops, bool reduce) {
    return {.peer = Peer::shift, .fraction = fraction, .hops = hops, .reduce = reduce};
}

// Every piece from or to all members, what the switch does for its owner, in each block of `per_node` members: chunk c
// belongs to place c / `chunks_each`.
inline void append_switch_round(std::vector<Transfer>& transfers, const GroupShape& shape, std::uint32_t round,
                                std::uint32_t chunks_each, bool reduce) {
    const std::uint32_t m = shape.per_node();
    for (std::uint32_t i = 0; i < shape.members; ++i) {
        const std::uint32_t node = i - i % m;
        for (std::uint32_t chunk = 0; chunk < m * chunks_each; ++chunk) {
            const std::uint32_t owner = node + chunk / chunks_each;
            if (owner == i) continue;
            transfers.push_back({round, reduce ? i : owner, reduce ? owner : i, chunk, reduce});
        }
    }
}

}  // namespace weft::collective
