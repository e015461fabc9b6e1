// What a sweep is asked to do, and the hash of all that its rows follow from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/sweep/grid.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// Part i of n: every n-th row of the table, from row i - 1, so that neighbours, which cost alike, are in different
// ones.
struct SweepShard {
    std::uint32_t number = 1, of = 1;
    bool operator==(const SweepShard&) const = default;
};

// "3/8". Throws std::invalid_argument.
SweepShard parse_shard(std::string_view text);

struct SweepRequest {
    JobSource job;
    std::vector<std::string> overrides;  // "key=value", for every point
    SweepGrid grid{{}};
    std::vector<std::string> conditions;  // a point must hold for all of them
    SimulationOptions simulation{.kept = Kept::sums};
};

// The points of the grid that the conditions hold for, ascending. Throws std::invalid_argument with the reason: a
// condition that cannot be read, or evaluated at some point, or none that any point holds for.
std::vector<std::size_t> points_of(const SweepRequest& request);
}  // namespace weft
