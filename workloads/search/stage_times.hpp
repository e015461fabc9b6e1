// What a stage takes on its own: the script that it would run, one micro-batch that is like most and one that is the
// step's last, read by a ScriptClock.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/plan/plan.hpp"
#include "workloads/search/call_costs.hpp"
#include "workloads/search/slot_order.hpp"

namespace weft {

struct StageTimes {
    std::vector<PartTimes> chunks;  // of a micro-batch like most
    std::vector<double> joint;      // the forward's chunk x chunks + the backward's; empty without joint passes
    Seconds compute, exposed;       // of such a micro-batch on all chunks, forward and backward
    // Once per step: what precedes the first slot and follows the last, and by how much the passes that complete the
    // gradients are longer.
    Seconds once;
    Seconds once_compute;  // of it
};

// `stage` of the plan must have its chunks and modules; slots are not looked at.
StageTimes stage_times(const Plan& plan, std::uint32_t stage, CallCosts& costs);

}  // namespace weft
