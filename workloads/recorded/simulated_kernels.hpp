// The kernels that the computations of a simulated rank consist of, one by one, as a profiler would see them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "workloads/plan/plan.hpp"
#include "workloads/recorded/simulated_work.hpp"

namespace weft {

// Kernels of one kind in a computation; m, n, k and count of a product, 0 of others.
struct SimulatedKernel {
    ProductShape shape{};
    double launches = 0;
    Seconds time{};  // of all of them together, without what lies between

    double whole_launches() const { return std::max(1.0, std::round(launches)); }
};

struct SimulatedComputation {
    WorkPass pass{};
    std::int32_t layer = no_layer;
    std::vector<SimulatedKernel> kernels;  // in the order of a layer's
};

// Kernels of one computation, as a profiler would count them.
inline double launches(const SimulatedComputation& what) {
    double sum = 0;
    for (const SimulatedKernel& kernel : what.kernels) sum += kernel.whole_launches();
    return sum;
}

// Of each action of the stage's script that computes, in order. Where no list of kernels is behind one, as in updates
// and casts of parameters, it is one kernel.
std::vector<SimulatedComputation> simulated_kernels(const Plan& plan, std::uint32_t stage);

}  // namespace weft
