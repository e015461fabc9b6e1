// What weft makes of a job that it has read: a plan, configurations of other tools, and of small ones a step.
#pragma once

#include "workloads/job/job.hpp"
#include "workloads/job/job_reading.hpp"

namespace weft::test {

// What jobs of a case name. Once in a case: what was read for others is forgotten from time to time, since some of it
// is what they wrote themselves.
const StudySources& sources_of_case();

// Throws ConfigError and RangeError as that does, and std::logic_error for a result that cannot be.
void go_on_with(const Study& study);

}  // namespace weft::test
