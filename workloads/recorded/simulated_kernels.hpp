// The kernels that the computations of a simulated rank consist of, one by one, as a profiler would see them, and when
// its host issues them. A pass ends with what its launches take, where the step has a stream of the host; elsewhere the
// host is ahead of the device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "workloads/plan/plan.hpp"
#include "workloads/recorded/simulated_ranks.hpp"
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

// Of the kernels of a node, in ns of the step's clock.
struct HostIssue {
    std::int64_t begin = -1;  // of the first; -1: as soon as those before are issued
    double each = 0;          // that the host takes for one
    std::int64_t end = 0;     // until when the device is busy with them, or waits for them
};

// The host, for the device.
struct HostWait {
    std::int64_t begin = 0, end = 0;
};

struct SimulatedHost {
    std::vector<const SimulatedComputation*> computations;  // by node; null: none of the device
    std::vector<HostIssue> issues;                          // by node
    std::vector<HostWait> waits;                            // in order
};

// `kernels`: simulated_kernels() of the rank's stage, which must outlive the result.
SimulatedHost simulated_host(const Plan& plan, const Script& script, const SimulatedRank& rank,
                             const std::vector<SimulatedComputation>& kernels);

}  // namespace weft
