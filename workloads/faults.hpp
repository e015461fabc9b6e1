// What is not as it should be with the accelerators of a job. (Links are the fabric's matter:
// topologies/link_fault.hpp.)
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/table.hpp"

namespace weft {

// Accelerators that follow one another, on which computation takes `factor` times as long as the device file says.
struct SlowRanks {
    RankId first{};
    std::uint32_t count = 1;
    double factor = 1.0;  // at least 1
    bool operator==(const SlowRanks&) const = default;
};

// Kernels take 1 + x times as long, x uniform from 0 to below 2 `spread`: `spread` is the mean lengthening. Uniform
// claims nothing about a machine but mean and bound, and has closed forms: of n ranks that wait for one another, the
// slowest takes 1 + 2 spread n / (n + 1) times as long on average.
struct Jitter {
    double spread = 0.0;  // 0 to 1; 0: none
    std::uint32_t seed = 0;

    // By how much the n-th computation of a rank is longer: f(seed, rank, n).
    double factor(RankId rank, std::uint64_t computation) const;
    bool operator==(const Jitter&) const = default;
};

struct Faults {
    std::vector<SlowRanks> slow;
    Jitter jitter;
    double spread = 1.0;  // of what the device file says of chips that differ: 1 all, 0 nothing
    bool operator==(const Faults&) const = default;
};

// By how much every computation of a rank is longer: the product of all that is slow there.
double slowness(const Faults& faults, RankId rank);
bool has_jitter(const Faults& faults);

}  // namespace weft
