// A training run as a whole: from simulated steps and the figures of the machine to what sim/endurance plays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/endurance/long_run.hpp"
#include "workloads/endurance/run_figures.hpp"
#include "workloads/report/report.hpp"

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

// What a checkpoint holds and how long it takes: parameters and optimizer states, through NICs and the file system.

// Written is each state once: what several data ranks hold, by one of them. Read is all that every rank holds.
struct CheckpointCosts {
    Bytes written;  // by all ranks
    Bytes rank;     // by the rank that writes most
    Bytes read;     // by all ranks
    Seconds write;  // the longer of: all of it into the file system, a node's share out of its NICs
    Seconds load;   // the same of reading
};

CheckpointCosts checkpoint_costs(const Plan& plan, const StorageFigures& storage);

// Steps of one batch. The last that are given go on until the run ends.
struct RunStretch {
    std::uint32_t batch = 0;               // sequences
    std::uint64_t steps = 0;               // 0: as many as it takes
    Seconds time{}, compute{}, exposed{};  // of a step; the latter two means over ranks
};
RunStretch run_stretch(const Report& step, std::uint32_t batch, std::uint64_t steps);

// Of the whole job, with what the site adds.
struct RunPower {
    Watts working;  // mean over its steps
    Watts waiting;
};

struct RunPlan {
    LongRun run{};
    std::vector<RunStretch> stretches;
    double sequence = 0;  // tokens
    CheckpointCosts checkpoint{};
    Seconds interval{};          // of work between checkpoints, at the end of the run
    Seconds between_failures{};  // planned stops are none
    double slowdown = 1.0;       // of computation, by slow chips: in the time of a step already
    std::optional<RunPower> power{};
    double storage_share = 1;  // of the file system's bandwidth, that the job has
    std::vector<std::pair<std::string_view, RunFigures::Origin>> origins{};  // of its figures
    std::vector<std::string> assumptions{};

    double tokens(std::uint64_t steps) const;      // that the first steps train on
    Joules energy(const RunSample& sample) const;  // power must be known
};

// Throws RangeError, with numbers: more spares than nodes, more steps than can be counted, or failures come so fast
// that the run gets nowhere.
RunPlan plan_run(const Plan& plan, std::vector<RunStretch> stretches, const RunTerms& terms);

}  // namespace weft
