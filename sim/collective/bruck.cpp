// Bruck's algorithms: rounds of distance d = 1, 2, 4, ..., ceil(log2(n)) of them for any n (Bruck et al., IEEE Trans.
// Parallel Distrib. Syst. 8 (1997) 1143-1156).
#include <algorithm>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> gather_phases(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Phase> phases;
    for (std::uint32_t d = 1; d < n; d *= 2) {
        phases.push_back({.distance = n - d, .fraction = static_cast<double>(std::min(d, n - d)) / n});
    }
    return phases;
}

std::vector<Transfer> gather_transfers(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Transfer> transfers;
    for (std::uint32_t round = 0, d = 1; d < n; d *= 2, ++round) {
        for (std::uint32_t i = 0; i < n; ++i) {
            for (std::uint32_t block = 0; block < std::min(d, n - d); ++block) {
                transfers.push_back({round, i, (i + n - d) % n, (i + block) % n, false});
            }
        }
    }
    return transfers;
}

// The lengths below n that have bit d.
std::uint32_t lengths_with(std::uint32_t d, std::uint32_t n) {
    const std::uint32_t rest = n % (2 * d);
    return n / (2 * d) * d + (rest > d ? rest - d : 0);
}

std::vector<Phase> exchange_phases(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Phase> phases;
    for (std::uint32_t d = 1; d < n; d *= 2) {
        phases.push_back({.distance = d, .fraction = static_cast<double>(lengths_with(d, n)) / n});
    }
    return phases;
}

std::vector<Transfer> exchange_transfers(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Transfer> transfers;
    for (std::uint32_t round = 0, d = 1; d < n; d *= 2, ++round) {
        for (std::uint32_t source = 0; source < n; ++source) {
            for (std::uint32_t length = 1; length < n; ++length) {
                if ((length & d) == 0) continue;
                const std::uint32_t at = (source + length % d) % n;
                transfers.push_back({round, at, (at + d) % n, source * n + (source + length) % n, false});
            }
        }
    }
    return transfers;
}

}  // namespace

// Every member passes on the d blocks that it has, its own and those of the next ones round the ring, to the member d
// before it; in the last round as many as are missing. Bandwidth-optimal.
extern const Algorithm bruck_all_gather{
    .name = "bruck",
    .op = Collective::all_gather,
    .phases = gather_phases,
    .transfers = gather_transfers,
};

// Every member passes on to the member d after it all blocks that have bit d in the distance they have to go: each
// block is sent as often as its distance has bits, about half of the message a round.
extern const Algorithm bruck_all_to_all{
    .name = "bruck",
    .op = Collective::all_to_all,
    .phases = exchange_phases,
    .transfers = exchange_transfers,
};

}  // namespace weft::collective
