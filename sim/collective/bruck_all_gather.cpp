// Bruck's all-gather: in the round of distance d = 1, 2, 4, ... every member passes on the d blocks that it has, its
// own and those of the next ones round the ring, to the member d before it; in the last round as many as are missing.
// Bandwidth-optimal in ceil(log2(n)) rounds for any n (Bruck et al., IEEE Trans. Parallel Distrib. Syst. 8 (1997)
// 1143-1156).
#include <algorithm>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> phases_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Phase> phases;
    for (std::uint32_t d = 1; d < n; d *= 2) {
        phases.push_back({.distance = n - d, .fraction = static_cast<double>(std::min(d, n - d)) / n});
    }
    return phases;
}

std::vector<Transfer> transfers_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Transfer> transfers;
    std::uint32_t round = 0;
    for (std::uint32_t d = 1; d < n; d *= 2, ++round) {
        for (std::uint32_t i = 0; i < n; ++i) {
            for (std::uint32_t block = 0; block < std::min(d, n - d); ++block) {
                transfers.push_back({round, i, (i + n - d) % n, (i + block) % n, false});
            }
        }
    }
    return transfers;
}

}  // namespace

extern const Algorithm bruck_all_gather{
    .name = "bruck",
    .op = Collective::all_gather,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases = phases_of,
    .transfers = transfers_of,
};

}  // namespace weft::collective
