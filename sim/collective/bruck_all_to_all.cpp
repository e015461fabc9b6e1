// Bruck's all-to-all: in the round of distance d = 1, 2, 4, ... every member passes on to the member d after it all
// blocks whose way has bit d in its length: ceil(log2 n) messages instead of n - 1, each block sent as often as its
// length has bits, about half of the message a round (Bruck et al., IEEE Trans. Parallel Distrib. Syst. 8 (1997)
// 1143-1156).
#include "sim/collective/algorithm.hpp"

namespace weft::collective {
namespace {

// The lengths below n that have bit d.
std::uint32_t lengths_with(std::uint32_t d, std::uint32_t n) {
    const std::uint32_t rest = n % (2 * d);
    return n / (2 * d) * d + (rest > d ? rest - d : 0);
}

std::vector<Phase> phases_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Phase> phases;
    for (std::uint32_t d = 1; d < n; d *= 2) {
        phases.push_back({.distance = d, .fraction = static_cast<double>(lengths_with(d, n)) / n});
    }
    return phases;
}

std::vector<Transfer> transfers_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Transfer> transfers;
    std::uint32_t round = 0;
    for (std::uint32_t d = 1; d < n; d *= 2, ++round) {
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

extern const Algorithm bruck_all_to_all{
    .name = "bruck",
    .op = Collective::all_to_all,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases = phases_of,
    .transfers = transfers_of,
};

}  // namespace weft::collective
