// Computation that takes another time whenever it runs.
#pragma once

#include <cstdint>

#include "sim/base/table.hpp"

namespace weft {

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

}  // namespace weft
