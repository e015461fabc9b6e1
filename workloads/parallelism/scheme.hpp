// One kind of parallelism: its axis of the rank grid and what it demands of a job. One file per scheme.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "workloads/job.hpp"

namespace weft {

struct Scheme {
    std::string_view axis;  // key under "layout"
    // Appends why the job cannot be split `job.layout.<axis>` ways.
    void (*check)(const Job& job, const MachineInfo& machine, std::vector<JobError>& errors);
};

namespace parallelism {
std::span<const Scheme* const> all();
}

}  // namespace weft
