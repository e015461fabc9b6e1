// What weft makes of a job that it has read: a plan, configurations of other tools, and of small ones a step.
#pragma once

#include <cstdint>

#include "workloads/job.hpp"
#include "workloads/study_sources.hpp"

namespace weft::test {

// What jobs of a case name. Once in a case: what was read for others is forgotten from time to time, since some of it
// is what they wrote themselves.
const StudySources& sources_of_case();

// Of the small jobs that are read, so many are planned for one that is simulated: a step costs as much as ten plans.
extern std::uint32_t planned_for_one_simulated;

// Throws ConfigError and RangeError as that does, and std::logic_error for a result that cannot be.
void go_on_with(const Study& study);

}  // namespace weft::test
