// What weft makes of a job that it has read: a plan, configurations of other tools, and of small ones a step.
#pragma once

#include "workloads/job.hpp"

namespace weft::test {

// Throws ConfigError and RangeError as that does, and std::logic_error for a result that cannot be.
void go_on_with(const Study& study);

}  // namespace weft::test
