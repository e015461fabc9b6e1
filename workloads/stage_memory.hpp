// The memory of a stage: what its chunks keep, which moment of the step is the fullest, what stands beside it.
#pragma once

#include "workloads/plan.hpp"

namespace weft {

// Parameters whose optimizer states this rank holds and updates.
double updated_parameters(const Job& job, const Stage& stage);

// Fills in what a chunk keeps per micro-batch.
void count_activations(const Job& job, Chunk& chunk);

// Of a stage with its chunks, slots, modules and parameters.
MemoryUse memory_use(const Job& job, const Stage& stage);

}  // namespace weft
