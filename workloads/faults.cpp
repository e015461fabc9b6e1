#include "workloads/faults.hpp"

#include "sim/base/hash.hpp"

namespace weft {

double Jitter::factor(RankId rank, std::uint64_t computation) const {
    const std::uint64_t random = hash_of({seed, index(rank), computation});
    const double share = static_cast<double>(random >> 11) * 0x1p-53;  // the 53 bits of a double: 0 to below 1
    return 1.0 + 2.0 * spread * share;
}

double slowness(const Faults& faults, RankId rank) {
    double product = 1.0;
    for (const SlowRanks& slow : faults.slow) {
        if (rank >= slow.first && index(rank) - index(slow.first) < slow.count) product *= slow.factor;
    }
    return product;
}

bool has_jitter(const Faults& faults) { return faults.jitter.spread > 0.0; }

}  // namespace weft
