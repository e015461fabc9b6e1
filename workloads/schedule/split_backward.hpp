// The slots of one stage that takes the weights' gradients apart, as both hand-made zero-bubble schedules do.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/schedule/schedule.hpp"

namespace weft::schedule {

// How far a stage runs ahead and behind, in micro-batches.
struct SplitBackward {
    std::uint32_t warm_up = 0;  // forwards before the first pair of a forward and a backward
    std::uint32_t delay = 0;    // the weights' gradient follows this many activations' gradients later
};

// `warm_up` forwards; then a forward, the activations' gradient and, once `delay` of them wait, the weights' gradient
// that waits longest. Towards the end forwards run out, and the weights' gradients that are left close the list.
// At most warm_up + 1 + delay micro-batches are alive.
std::vector<Slot> split_backward(std::uint32_t micro_batches, SplitBackward order);

}  // namespace weft::schedule
