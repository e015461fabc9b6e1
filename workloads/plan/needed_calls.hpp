// Which collectives a job calls, and whether the library that it runs on has costs for them.
#pragma once

#include <set>

#include "workloads/plan/plan.hpp"

namespace weft {

std::set<Collective> collectives_of(const Plan& plan);  // in the scripts of a step, of all stages

// Throws ConfigError: a collective that the library has no costs for, with what the machine file lacks.
void check_calls(const Plan& plan);

}  // namespace weft
