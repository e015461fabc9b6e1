// Parallel aggregated trees (S. Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale",
// arXiv 2506.20252; NCCL from 2.23): one binomial tree per member, all shifted against one another, in ceil(log2 n)
// rounds for any n. Unlike in Bruck's all-gather the farthest go first, with one chunk, and the nearest carry half of
// the message. NCCL runs it among groups with one member per node. Bounded buffers, which cut large messages into more
// rounds, are left out: latency is hidden there. The reduce-scatter is the all-gather backwards.
#include <algorithm>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {
namespace {

bool is_one_per_node(const GroupShape& shape) { return shape.nodes == shape.members; }

std::vector<std::uint32_t> distances(std::uint32_t n, bool reduce) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t d = 1; d < n; d *= 2) all.push_back(d);
    if (!reduce) std::ranges::reverse(all);
    return all;
}

// The odd multiples of d below n: chunks that every member of the all-gather sends d on. It holds those of the members
// before it by multiples of 2 d.
std::uint32_t chunks_of_round(std::uint32_t n, std::uint32_t d) { return ((n - 1) / d + 1) / 2; }

template <bool reduce>
std::vector<Phase> pat_phases(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Phase> phases;
    for (const std::uint32_t d : distances(n, reduce)) {
        const double fraction = static_cast<double>(chunks_of_round(n, d)) / n;
        phases.push_back({.distance = reduce ? n - d : d, .fraction = fraction, .reduce = reduce});
    }
    return phases;
}

template <bool reduce>
std::vector<Transfer> pat_transfers(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Transfer> transfers;
    for (const std::uint32_t d : distances(n, reduce)) {
        const std::uint32_t round = rounds_of(transfers);
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t after = (i + d) % n;
            for (std::uint32_t k = 0; k < chunks_of_round(n, d); ++k) {
                const std::uint32_t chunk = (i + n - 2 * d * k) % n;
                transfers.push_back({round, reduce ? after : i, reduce ? i : after, chunk, reduce});
            }
        }
    }
    return transfers;
}

}  // namespace

extern const Algorithm pat_all_gather{
    .name = "pat",
    .op = Collective::all_gather,
    .phases = pat_phases<false>,
    .transfers = pat_transfers<false>,
    .runs = is_one_per_node,
};

extern const Algorithm pat_reduce_scatter{
    .name = "pat",
    .op = Collective::reduce_scatter,
    .phases = pat_phases<true>,
    .transfers = pat_transfers<true>,
    .runs = is_one_per_node,
};

}  // namespace weft::collective
