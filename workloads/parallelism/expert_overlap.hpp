// What runs beside the all-to-alls of a job's experts, and which jobs can have it.
#pragma once

#include <vector>

#include "workloads/job/job.hpp"

namespace weft {

// The job's, or where it does not say: joint passes under a bidirectional schedule whose ranks share experts, which is
// what such a schedule is for; else nothing.
ExpertOverlap expert_overlap(const Job& job);

// Whether joint passes put the gradients of weights off until the gradient of the tokens is on its way; by default as
// DualPipe does (DeepSeek-V3, arXiv 2412.19437, figure 4), and as Megatron-core does not.
Setting delays_weight_gradients(const Job& job);

// Appends why the job cannot have the overlap that it asks for.
void check_expert_overlap(const Job& job, std::vector<JobError>& errors);

}  // namespace weft
