// What is not as it should be with the accelerators of a job. (Links are the fabric's matter:
// topologies/fabric.hpp.)
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/program/compute_times.hpp"

namespace weft {

// Accelerators that follow one another, on which computation takes `factor` times as long as the device file says.
struct SlowRanks {
    RankId first{};
    std::uint32_t count = 1;
    double factor = 1.0;  // at least 1
    bool operator==(const SlowRanks&) const = default;
};

struct Faults {
    std::vector<SlowRanks> slow;
    Jitter jitter;
    double spread = 1.0;  // of what the device file says of chips that differ: 1 all, 0 nothing
    bool operator==(const Faults&) const = default;
};

// By how much every computation of a rank is longer: the product of all that is slow there.
inline double slowness(const Faults& faults, RankId rank) {
    double product = 1.0;
    for (const SlowRanks& slow : faults.slow) {
        if (rank >= slow.first && index(rank) - index(slow.first) < slow.count) product *= slow.factor;
    }
    return product;
}
inline bool has_jitter(const Faults& faults) { return faults.jitter.spread > 0.0; }

}  // namespace weft
