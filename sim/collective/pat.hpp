// Parallel aggregated trees (S. Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale",
// arXiv 2506.20252; NCCL from 2.23): one binomial tree per member, all shifted against one another, in ceil(log2 n)
// rounds for any n. Unlike in Bruck's all-gather the farthest go first, with one chunk, and the nearest carry half of
// the message. NCCL runs it among groups with one member per node. Bounded buffers, which cut large messages into more
// rounds, are left out: latency is hidden there.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {

inline bool is_one_per_node(const GroupShape& shape) { return shape.nodes == shape.members; }

// The odd multiples of d below n: chunks that every member of the all-gather sends d on. It holds those of the members
// before it by multiples of 2 d.
inline std::uint32_t pat_chunks(std::uint32_t n, std::uint32_t d) { return ((n - 1) / d + 1) / 2; }

inline std::uint32_t farthest(std::uint32_t n) { return std::bit_ceil(n) / 2; }

// One round of the all-gather, or of the reduce-scatter, which is the all-gather backwards.
inline void append_pat_round(std::vector<Transfer>& transfers, std::uint32_t round, std::uint32_t n, std::uint32_t d,
                             bool reduce) {
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t after = (i + d) % n;
        for (std::uint32_t k = 0; k < pat_chunks(n, d); ++k) {
            const std::uint32_t chunk = (i + n - 2 * d * k) % n;
            transfers.push_back({round, reduce ? after : i, reduce ? i : after, chunk, reduce});
        }
    }
}

}  // namespace weft::collective
