// The n - 1 rounds that every ring collective is made of.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {

// Each member passes 1/n of the message to the next, n - 1 times.
inline Phase ring_phase(std::uint32_t n, bool reduce) {
    return {.peer = Peer::shift, .fraction = 1.0 / n, .repeat = n - 1, .hops = n - 1, .reduce = reduce};
}

// Reducing: chunk c starts at member c + 1 and gathers contributions until it reaches member c, its owner.
// Otherwise: chunk c starts at its owner and travels on to the other members.
inline void append_ring_rounds(std::vector<Transfer>& transfers, std::uint32_t n, std::uint32_t first_round,
                               bool reduce) {
    for (std::uint32_t round = 0; round + 1 < n; ++round) {
        const std::uint32_t lag = reduce ? round + 1 : round;
        for (std::uint32_t i = 0; i < n; ++i) {
            transfers.push_back({first_round + round, i, (i + 1) % n, (i + n - lag) % n, reduce});
        }
    }
}

}  // namespace weft::collective
