// What weft and its peers are both given to do: the same actors, messages and sizes on the same links.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/explicit/message_program.hpp"
#include "tests/sim/collective/toy_racks.hpp"

namespace weft::peers {

using testing_support::Cable;

inline constexpr BytesPerSecond bandwidth = 50_GBps;  // of a rank's link up and of its link down

struct Work {
    std::vector<Cable> ranks;  // the cable of each
    std::vector<Cable> racks;  // of as many ranks each; one: a crossbar
    Seconds latency;           // of each link
    MessageProgram program;

    std::uint32_t size() const { return static_cast<std::uint32_t>(ranks.size()); }
};

// Whether all ranks are equal, or none: starts within 20 us, computing times and cables within 20 % of each other, one
// cable of 64 at a quarter of that, sizes within a factor of three.
enum class Likeness : std::uint8_t { equal, perturbed };

// 1 GiB over all ranks: 2 (n - 1) rounds, in each of which everybody sends 1/n of it to the right. Perturbed, each
// sends a size of its own.
Work ring_all_reduce(std::uint32_t ranks, Likeness likeness);

// Rank i sends 64 KiB to i + 1, i + 2, ..., one after another.
Work staggered_all_to_all(std::uint32_t ranks, Likeness likeness);

// Always perturbed: every rank sends 64 messages, one after another and of about 64 KiB, to ranks that chance picks,
// over racks, which the ranks must fill, whose links take a quarter of what these send.
inline constexpr std::uint32_t ranks_per_rack = 16;
Work random_pairs(std::uint32_t ranks);

// A training step of a GPT-like model: every stage of a pipeline runs micro-batches in the order one forward, one
// backward; layers are split over tensor ranks, which add up partial sums in rings; a ring of data ranks ends the step.
struct StepShape {
    std::uint32_t tensor = 8, data = 16, pipeline = 8;
    std::uint32_t micro_batches = 16;
    std::uint32_t layers = 6;  // of a stage

    std::uint32_t ranks() const { return tensor * data * pipeline; }
};
Work gpt_step(const StepShape& shape, Likeness likeness);

}  // namespace weft::peers
