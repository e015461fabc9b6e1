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

inline bool is_power_of_two(const GroupShape& shape) { return std::has_single_bit(shape.members); }

inline Phase fold_phase(std::uint32_t n) { return {.peer = Peer::fold, .distance = core_of(n), .reduce = true}; }
inline Phase unfold_phase(std::uint32_t n) { return {.peer = Peer::unfold, .distance = core_of(n)}; }

// In a round of distance d, aligned blocks of d chunks change hands: d/p of the message.
inline Phase block_exchange(std::uint32_t core, std::uint32_t distance, bool reduce) {
    return {.peer = Peer::exchange,
            .distance = distance,
            .span = core,
            .fraction = static_cast<double>(distance) / core,
            .reduce = reduce};
}

// Recursive halving: a reduce-scatter among the core.
inline void append_halving(std::vector<Phase>& phases, std::uint32_t core) {
    for (std::uint32_t d = core / 2; d > 0; d /= 2) phases.push_back(block_exchange(core, d, true));
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

// Every sender of the phase sends all of the message.
inline void append_whole_messages(std::vector<Transfer>& transfers, std::uint32_t round, const Phase& phase,
                                  std::uint32_t n, std::uint32_t chunks) {
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t peer = peer_of(phase, i, n);
        if (peer == n) continue;
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
            transfers.push_back({round, i, peer, chunk, phase.reduce});
        }
    }
}

// The transfers of phases that are exchanges of blocks.
inline std::vector<Transfer> block_transfers(const std::vector<Phase>& phases) {
    std::vector<Transfer> transfers;
    std::uint32_t round = 0;
    for (const Phase& phase : phases) append_block_exchange(transfers, round++, phase);
    return transfers;
}

}  // namespace weft::collective
