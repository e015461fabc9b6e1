#include "workloads/job/faults.hpp"

namespace weft {

double slowness(const Faults& faults, RankId rank) {
    double product = 1.0;
    for (const SlowRanks& slow : faults.slow) {
        if (rank >= slow.first && index(rank) - index(slow.first) < slow.count) product *= slow.factor;
    }
    return product;
}

bool has_jitter(const Faults& faults) { return faults.jitter.spread > 0.0; }

}  // namespace weft
