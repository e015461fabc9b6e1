// When the host of a simulated rank issues its kernels. A pass ends with what its launches take, where the step has a
// stream of the host; elsewhere the host is ahead of the device.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/recorded/simulated_kernels.hpp"
#include "workloads/recorded/simulated_ranks.hpp"

namespace weft {

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
