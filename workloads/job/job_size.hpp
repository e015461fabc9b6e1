// How large the program of a step will be, told from the job alone.
#pragma once

#include "workloads/job/job.hpp"

namespace weft {

// Operations of one rank of every stage: those of every micro-batch, about a dozen per layer, two more per step of a
// context ring, a dozen around experts, and what stages hand over.
double expected_operations(const Job& job);

}  // namespace weft
