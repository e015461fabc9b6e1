// The rounds of a binomial tree: ceil(log2(n)) of them, each with all of the message.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {

// From member 0 outwards.
inline std::vector<Phase> binomial_growth(const GroupShape& shape) {
    std::vector<Phase> phases;
    for (std::uint32_t d = 1; d < shape.members; d *= 2) phases.push_back({.peer = Peer::grow, .distance = d});
    return phases;
}

// In to the last member: the same tree seen from there, backwards.
inline std::vector<Phase> binomial_shrinkage(const GroupShape& shape) {
    std::vector<Phase> phases;
    for (std::uint32_t d = std::bit_ceil(shape.members) / 2; d > 0; d /= 2) {
        phases.push_back({.peer = Peer::shrink, .distance = d, .reduce = true});
    }
    return phases;
}

// One round per phase, one chunk.
inline std::vector<Transfer> whole_messages(const std::vector<Phase>& phases, std::uint32_t n) {
    std::vector<Transfer> transfers;
    std::uint32_t round = 0;
    for (const Phase& phase : phases) {
        for (std::uint32_t i = 0; i < n; ++i) {
            if (const std::uint32_t peer = peer_of(phase, i, n); peer < n) {
                transfers.push_back({round, i, peer, 0, phase.reduce});
            }
        }
        ++round;
    }
    return transfers;
}

}  // namespace weft::collective
