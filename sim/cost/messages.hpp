// The messages of one phase of an algorithm.
#pragma once

#include <cstdint>

#include "sim/collective/algorithm.hpp"

namespace weft {

// Calls visit(from, to, weight) for every message of a round among n members, by sender where they are not listed:
// member `from` sends `weight` of the phase's fraction to member `to`.
template <class Visit>
void for_each_message(const Phase& phase, std::uint32_t n, Visit visit) {
    switch (phase.peer) {
        case Peer::listed:
            for (const Edge& edge : phase.edges) visit(edge.from, edge.to, edge.weight);
            return;
        case Peer::all:
            for (std::uint32_t i = 0; i < n; ++i) {
                for (std::uint32_t j = 0; j < n; ++j) {
                    if (j != i) visit(i, j, 1.0);
                }
            }
            return;
        default:
            for (std::uint32_t i = 0; i < n; ++i) {
                if (const std::uint32_t peer = peer_of(phase, i, n); peer < n) visit(i, peer, weight_of(phase, i));
            }
    }
}

}  // namespace weft
