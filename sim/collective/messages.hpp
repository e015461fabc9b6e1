// The messages of one phase of an algorithm.
#pragma once

#include <cstdint>

#include "sim/collective/algorithm.hpp"

namespace weft {

// Calls visit(edges) for every message of a round among n members, or for several at once: member `from` sends `weight`
// of the phase's fraction to member `to`.
template <class Visit>
void for_each_edges(const Phase& phase, std::uint32_t n, Visit visit) {
    switch (phase.peer) {
        case Peer::listed:
            for (const Edges& edges : phase.edges) visit(edges);
            return;
        case Peer::all:
            for (std::uint32_t i = 0; i < n; ++i) {
                for (std::uint32_t j = 0; j < n; ++j) {
                    if (j != i) visit(Edges{i, j});
                }
            }
            return;
        case Peer::shift: {
            const std::uint32_t by = phase.distance % n;
            visit(Edges{0, by, 1.0, n - by, 1});
            if (by > 0) visit(Edges{n - by, 0, 1.0, by, 1});
            return;
        }
        default:
            for (std::uint32_t i = 0; i < n; ++i) {
                if (const std::uint32_t peer = peer_of(phase, i, n); peer < n) visit(Edges{i, peer});
            }
    }
}

// Calls visit(from, to, weight) for every one.
template <class Visit>
void for_each_message(const Phase& phase, std::uint32_t n, Visit visit) {
    for_each_edges(phase, n, [&](const Edges& edges) {
        for (std::uint32_t i = 0; i < edges.count; ++i) {
            visit(edges.from + i * edges.step, edges.to + i * edges.step, edges.weight);
        }
    });
}

}  // namespace weft
