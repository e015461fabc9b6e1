// What frameworks without model parallelism refuse.
#pragma once

#include <vector>

#include "workloads/framework/framework.hpp"

namespace weft {

// Every axis but data, and what needs one. Experts are like any parameters: every rank has all of them.
void check_data_only(const Job& job, std::vector<JobError>& errors);

}  // namespace weft
