// The memory of a stage: what its chunks keep, which moment of the step is the fullest, what stands beside it.
#pragma once

#include <span>

#include "workloads/plan/plan.hpp"
#include "workloads/schedule/moments.hpp"

namespace weft {

// Ranks that share one copy of experts that are apart, where `ranks` share dense parameters.
double expert_ranks(const Job& job, double ranks);

// Parameters whose optimizer states this rank holds and updates.
double updated_parameters(const Job& job, const Stage& stage);
// What the optimizer remembers of them, on the device or on the host.
Bytes optimizer_states(const Job& job, const Stage& stage);

// Fills in what a chunk keeps per micro-batch.
void count_activations(const Job& job, Chunk& chunk);

// What layer `i` of a chunk keeps of a micro-batch, wherever.
Bytes layer_activations(const Job& job, const Chunk& chunk, std::uint32_t i);
// Of them, what stays on the device from forward to backward.
Bytes kept_activations(const Job& job, const Chunk& chunk, std::uint32_t i);

// Of a stage with its chunks, slots, modules and parameters.
MemoryUse memory_use(const Job& job, const Stage& stage);
// Of a stage without slots, whose fullest moments are known.
MemoryUse memory_use(const Job& job, const Stage& stage, std::span<const Moment> moments);

}  // namespace weft
