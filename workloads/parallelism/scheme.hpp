// One kind of parallelism: its axis of the rank grid and what it demands of a job. One file per scheme.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "workloads/job.hpp"

namespace weft {

struct Scheme {
    std::string_view axis;  // key under "layout"
    std::uint32_t Layout::*size;
    // Where its ranks come from: they multiply the job's, they are what the other axes leave, or they are cut out of
    // the ranks of other axes.
    enum class Ranks : std::uint8_t { own, rest, shared } ranks;
    // Appends why the job cannot be split `job.layout.<axis>` ways.
    void (*check)(const Job& job, const MachineInfo& machine, std::vector<JobError>& errors);
};

namespace parallelism {
std::span<const Scheme* const> all();
}

}  // namespace weft
