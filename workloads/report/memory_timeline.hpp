// Device memory of a rank class over the step: what stays, plus the activations of the micro-batches under way.
#pragma once

#include <vector>

#include "sim/base/instant.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

struct MemoryPoint {
    Instant at;
    Bytes in_use;  // from here on
};

// Activations of a micro-batch live from the start of its first forward operation to the end of its last backward one.
std::vector<MemoryPoint> memory_timeline(const Simulation& simulation, RankClassId rank_class);

}  // namespace weft
