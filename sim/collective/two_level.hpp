// Rings on two levels: inside every node, and across nodes among the members with equal places in their nodes, which
// are `per_node` apart. Chunk c belongs to member c; member i is at place i mod per_node of its node.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {

inline bool has_two_levels(const GroupShape& shape) { return shape.per_node() > 1 && shape.blocks() > 1; }

// Every member passes 1/per_node of the message to the next in its node, per_node - 1 times.
inline Phase ring_in_node(const GroupShape& shape, bool reduce) {
    const std::uint32_t m = shape.per_node();
    return {
        .peer = Peer::shift_in_span, .span = m, .fraction = 1.0 / m, .repeat = m - 1, .hops = m - 1, .reduce = reduce};
}

// Every member passes one chunk to its like in the next node, nodes - 1 times.
inline Phase ring_across(const GroupShape& shape, bool reduce) {
    const std::uint32_t nodes = shape.blocks();
    return {.peer = Peer::shift,
            .distance = shape.per_node(),
            .fraction = 1.0 / shape.members,
            .repeat = nodes - 1,
            .hops = nodes - 1,
            .reduce = reduce};
}

// As in ring.hpp: reducing, what belongs to place p starts at place p + 1; otherwise at p.
inline void append_ring_in_node(std::vector<Transfer>& transfers, const GroupShape& shape, std::uint32_t first_round,
                                bool reduce) {
    const std::uint32_t m = shape.per_node();
    for (std::uint32_t round = 0; round + 1 < m; ++round) {
        const std::uint32_t lag = reduce ? round + 1 : round;
        for (std::uint32_t i = 0; i < shape.members; ++i) {
            const std::uint32_t first = i - i % m, to = first + (i + 1) % m;
            for (std::uint32_t chunk = (i % m + m - lag) % m; chunk < shape.members; chunk += m) {
                transfers.push_back({first_round + round, i, to, chunk, reduce});
            }
        }
    }
}

inline void append_ring_across(std::vector<Transfer>& transfers, const GroupShape& shape, std::uint32_t first_round,
                               bool reduce) {
    const std::uint32_t m = shape.per_node(), n = shape.members;
    for (std::uint32_t round = 0; round + 1 < shape.blocks(); ++round) {
        const std::uint32_t lag = reduce ? round + 1 : round;
        for (std::uint32_t i = 0; i < n; ++i) {
            transfers.push_back({first_round + round, i, (i + m) % n, (i + n - lag * m) % n, reduce});
        }
    }
}

}  // namespace weft::collective
