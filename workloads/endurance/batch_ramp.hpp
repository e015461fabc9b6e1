// The batch at the beginning of a run, and how many steps it takes of each size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

// Megatron's --rampup-batch-size START INCREMENT SAMPLES: from START to the job's batch by INCREMENT, each size for an
// equal share of SAMPLES (megatron/core/num_microbatches_calculator.py).
struct BatchRamp {
    std::uint32_t start = 0, increment = 0;
    std::uint64_t samples = 0;
};

struct BatchStretch {
    std::uint32_t batch = 0;  // sequences per step
    std::uint64_t steps = 0;
};

// Why the ramp does not lead to `global`, or a batch of it is no multiple of `unit`, the sequences of one micro-batch
// on every data rank; empty if it does.
std::string obstacle(const BatchRamp& ramp, std::uint32_t global, std::uint64_t unit);

// Sizes below `global` in turn, each until its share of the samples is through.
std::vector<BatchStretch> stretches(const BatchRamp& ramp, std::uint32_t global);

}  // namespace weft
