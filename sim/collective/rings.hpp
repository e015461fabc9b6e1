// Rings: among all members, inside every node, and across nodes among the members with equal places in their nodes,
// which are `per_node` apart. Chunk c belongs to member c; member i is at place i mod per_node of its node.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {

enum class Ring : std::uint8_t { of_all, in_node, across };

// Once round the ring: a reduce-scatter if it reduces, else an all-gather.
struct RingPass {
    Ring ring;
    bool reduce;
};

inline constexpr RingPass scatter{Ring::of_all, true}, gather{Ring::of_all, false};
inline constexpr RingPass scatter_in_node{Ring::in_node, true}, gather_in_node{Ring::in_node, false};
inline constexpr RingPass scatter_across{Ring::across, true}, gather_across{Ring::across, false};

inline bool has_two_levels(const GroupShape& shape) { return shape.per_node() > 1 && shape.blocks() > 1; }

// As many rounds as the ring has members but one, in each of which a member passes to the next one what belongs to one
// of them: 1/per_node of the message in a node, one chunk elsewhere.
inline Phase ring_phase(const GroupShape& shape, RingPass pass) {
    const std::uint32_t n = shape.members, m = shape.per_node();
    if (pass.ring == Ring::in_node) {
        return {.peer = Peer::shift_in_span,
                .span = m,
                .fraction = 1.0 / m,
                .repeat = m - 1,
                .hops = m - 1,
                .reduce = pass.reduce};
    }
    const std::uint32_t distance = pass.ring == Ring::across ? m : 1, rounds = n / distance - 1;
    return {.distance = distance, .fraction = 1.0 / n, .repeat = rounds, .hops = rounds, .reduce = pass.reduce};
}

// Reducing, what belongs to a member starts at the next one and gathers contributions until it reaches its owner;
// otherwise it starts at its owner and travels on to the others.
inline void append_ring(std::vector<Transfer>& transfers, const GroupShape& shape, RingPass pass) {
    const std::uint32_t n = shape.members, m = shape.per_node(), first_round = rounds_of(transfers);
    const bool in_node = pass.ring == Ring::in_node;
    const std::uint32_t distance = pass.ring == Ring::across ? m : 1, ring_size = in_node ? m : n / distance;
    for (std::uint32_t round = 0; round + 1 < ring_size; ++round) {
        const std::uint32_t lag = pass.reduce ? round + 1 : round;
        for (std::uint32_t i = 0; i < n; ++i) {
            if (!in_node) {
                transfers.push_back(
                    {first_round + round, i, (i + distance) % n, (i + n - lag * distance) % n, pass.reduce});
                continue;
            }
            const std::uint32_t first = i - i % m, to = first + (i + 1) % m;
            for (std::uint32_t chunk = (i % m + m - lag) % m; chunk < n; chunk += m) {
                transfers.push_back({first_round + round, i, to, chunk, pass.reduce});
            }
        }
    }
}

// The two forms of an algorithm that is these passes, one after another.
template <RingPass... passes>
std::vector<Phase> ring_phases(const GroupShape& shape) {
    return {ring_phase(shape, passes)...};
}
template <RingPass... passes>
std::vector<Transfer> ring_transfers(const GroupShape& shape) {
    std::vector<Transfer> transfers;
    (append_ring(transfers, shape, passes), ...);
    return transfers;
}

}  // namespace weft::collective
