// Settings that a job could have instead of what it has, one step away: the next value of every knob of a search, and
// what frameworks can switch besides.
#pragma once

#include <string>
#include <vector>

#include "workloads/job/job.hpp"

namespace weft {

struct Alternative {
    std::vector<std::string> assignments;  // "layout.tensor=8", ...: with these the job file is the other job's
    bool changes_numerics = false;         // what is computed is not the same to rounding
};

// Whether they are another job's at all, and one that can be run, the job reader tells.
std::vector<Alternative> alternatives(const Job& job);

}  // namespace weft
