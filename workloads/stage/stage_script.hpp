// The script of a stage: slots of the schedule with what stages hand over between them, layers with their calls inside
// them, data parallelism around all.
#pragma once

#include <cstdint>

#include "workloads/plan/plan.hpp"
#include "workloads/script/script.hpp"

namespace weft {

// One step as a rank of `stage` runs it: the first of a run, or one like all later ones.
Script step_script(const Plan& plan, std::uint32_t stage, StepKind kind);

// What the framework sends once, before the first step.
Script start_up_script(const Plan& plan, std::uint32_t stage);

}  // namespace weft
