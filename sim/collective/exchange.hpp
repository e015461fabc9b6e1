// Rounds in which partners at a distance of a power of two exchange blocks, among the largest power of two of members;
// members beyond it fold their contribution into a partner first and get the result from it last (Thakur, Rabenseifner,
// Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66).
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {

inline std::uint32_t core_of(std::uint32_t n) { return std::bit_floor(n); }

// The phases of the core of n members, with what those beyond it add before and get after them.
inline std::vector<Phase> folded(std::vector<Phase> phases, std::uint32_t n) {
    if (core_of(n) == n) return phases;
    phases.insert(phases.begin(), {.peer = Peer::fold, .distance = core_of(n), .reduce = true});
    phases.push_back({.peer = Peer::unfold, .distance = core_of(n)});
    return phases;
}

// In a round of distance d, aligned blocks of d chunks change hands: d/p of the message.
inline Phase block_exchange(std::uint32_t core, std::uint32_t distance, bool reduce) {
    return {.peer = Peer::exchange,
            .distance = distance,
            .span = core,
            .fraction = static_cast<double>(distance) / core,
            .reduce = reduce};
}

// Recursive doubling of blocks: an all-gather among the core.
inline void append_doubling(std::vector<Phase>& phases, std::uint32_t core) {
    for (std::uint32_t d = 1; d < core; d *= 2) phases.push_back(block_exchange(core, d, false));
}

// Before a doubling round of distance d, member i holds the aligned block of d chunks that contains i, and sends it;
// a halving round is the mirror image: it sends the block that its partner is to keep.
inline void append_block_exchange(std::vector<Transfer>& transfers, std::uint32_t round, const Phase& phase) {
    const std::uint32_t d = phase.distance;
    for (std::uint32_t i = 0; i < phase.span; ++i) {
        const std::uint32_t partner = i ^ d;
        const std::uint32_t first = (phase.reduce ? partner : i) / d * d;
        for (std::uint32_t chunk = first; chunk < first + d; ++chunk) {
            transfers.push_back({round, i, partner, chunk, phase.reduce});
        }
    }
}

}  // namespace weft::collective
