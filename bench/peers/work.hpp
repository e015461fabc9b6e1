// What weft and its peers are both given to do: the same actors, messages and sizes on the same crossbar.
#pragma once

#include <cstdint>

#include "sim/base/quantity.hpp"
#include "sim/explicit/message_program.hpp"

namespace weft::peers {

inline constexpr BytesPerSecond bandwidth = 50_GBps;  // of a rank's link up and of its link down
inline constexpr Seconds latency = 500_ns;            // of each

struct Work {
    std::uint32_t ranks = 0;
    MessageProgram program;
};

// 1 GiB over all ranks: 2 (n - 1) rounds, in each of which everybody sends 1/n of it to the right.
Work ring_all_reduce(std::uint32_t ranks);

// Rank i sends 64 KiB to i + 1, i + 2, ..., one after another.
Work staggered_all_to_all(std::uint32_t ranks);

// A training step of a GPT-like model: every stage of a pipeline runs micro-batches in the order one forward, one
// backward; layers are split over tensor ranks, which add up partial sums in rings; a ring of data ranks ends the step.
struct StepShape {
    std::uint32_t tensor = 8, data = 16, pipeline = 8;
    std::uint32_t micro_batches = 16;
    std::uint32_t layers = 6;  // of a stage

    std::uint32_t ranks() const { return tensor * data * pipeline; }
};
Work gpt_step(const StepShape& shape);

}  // namespace weft::peers
