// A training run as a whole: from simulated steps and the figures of the machine to what sim/endurance plays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/endurance/long_run.hpp"
#include "topologies/machine.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/report.hpp"

namespace weft {

enum class Saving : std::uint8_t { synchronous, asynchronous };  // what steps wait for: all of it, or the copy to hosts

// What is asked of a run. What is left out follows from the machine, or is assumed and said.
struct RunTerms {
    // One of the three:
    std::optional<double> tokens{};
    std::optional<std::uint64_t> steps{};
    std::optional<Seconds> time{};  // of the wall clock, after which it ends

    Saving saving = Saving::synchronous;
    std::optional<Seconds> interval{};       // of work between checkpoints, rounded to steps; or
    std::optional<std::uint64_t> between{};  // steps between them; without either the best
    std::optional<std::uint32_t> spares{};   // nodes
    std::optional<Seconds> detection{}, stop{}, launch{}, repair{};
    std::optional<Seconds> hardware{}, software{}, planned{};  // mean times between those of the run; `endless`: none
    std::optional<double> storage_share{};                     // of the file system, above 0, up to 1
};

// What a run meets: failures, planned stops, spares and its part of the file system, each as it was asked for, as the
// machine's file has it, or as published runs had it.
struct RunFigures {
    LongRun run{};             // but for its steps and checkpoints
    StorageFigures storage{};  // the job's part of the file system,
    double storage_share = 1;
    BytesPerSecond host_link{};

    enum class Origin : std::uint8_t { asked, machine, assumed };
    std::vector<std::pair<std::string_view, Origin>> origins{};  // by the names that JSON has
    std::vector<std::string> assumptions{};                      // each with its source
};

// Throws RangeError, with numbers: more spares than nodes.
RunFigures run_figures(const Plan& plan, const RunTerms& terms);

// Of either of two that come at random; each may be endless.
Seconds either(Seconds a, Seconds b);

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
    double congestion = 1.0;     // of steps, by flows of other jobs: in their time already
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
