// A training run as a whole: from simulated steps and the figures of the machine to what sim/endurance plays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/endurance/long_run.hpp"
#include "workloads/endurance/checkpoint.hpp"
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
    std::optional<Seconds> detection{}, launch{}, repair{};
};

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
    LongRun run;
    std::vector<RunStretch> stretches;
    double sequence = 0;  // tokens
    CheckpointCosts checkpoint;
    Seconds interval;          // of work between checkpoints, at the end of the run
    Seconds between_failures;  // planned stops are none
    double slowdown = 1.0;     // of computation, by slow chips: in the time of a step already
    std::optional<RunPower> power;
    std::vector<std::string> assumptions;

    double tokens(std::uint64_t steps) const;      // that the first steps train on
    Joules energy(const RunSample& sample) const;  // power must be known
};

// Throws RangeError, with numbers: more spares than nodes, or failures come so fast that the run gets nowhere.
RunPlan plan_run(const Plan& plan, std::vector<RunStretch> stretches, const RunTerms& terms);

}  // namespace weft
