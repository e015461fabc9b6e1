// Several jobs on one machine at a time, and what that costs each of them.
//
// Each job does one step after another, from its start on; a step begins when the one before is over on all its ranks.
// All go on for as long as any is measured. The window begins when the last job has started and ends when every job has
// done so many steps in it; what is said of a job is the mean of its steps that lie in the window whole, beside its
// step with the machine to itself. Every rank is simulated, since what others send may tell ranks apart that are equal
// in their own job. Routes are those that each job takes alone: no switch sends one job's traffic around another's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/program/program.hpp"
#include "workloads/job/job.hpp"
#include "workloads/step/step_builder.hpp"

namespace weft {

struct PlacedJob {
    std::string name;
    Study study;  // on the nodes of its fabric's placement
    Seconds start{};
};

struct SharingOptions {
    std::uint32_t steps = 1;  // of every job in the window, at least
    Recording recording = Recording::spans;
    SizeListener on_size{};  // told of more and more: jobs one after another, and all together
};

// Of one step, or the mean of several; compute and exposed are means over ranks.
struct PlacedStep {
    Seconds time{}, compute{}, exposed{};
};

struct PlacedReport {
    std::string name;
    std::vector<std::uint32_t> nodes;
    std::uint32_t ranks = 0;
    Seconds start{};
    std::uint32_t steps = 0;  // that `together` is the mean of
    std::uint32_t runs = 0;   // of the step in all, in Sharing::timeline
    PlacedStep alone, together;

    double slowdown() const { return together.time / alone.time; }
};

// A link that several jobs use.
struct SharedLink {
    LinkId link{};
    std::vector<Bytes> bytes;  // of each job, in a step
    double busy = 0.0;         // share of its bandwidth that all of them take, at the pace of `together`
};

struct Sharing {
    std::vector<PlacedReport> jobs;  // in the order given
    Seconds begin{}, end{};          // of the window
    std::vector<SharedLink> links;   // busiest first
    Topology topology;               // of the nodes of all jobs
    Program program;                 // of all jobs, and what happened in it
    Timeline timeline;
};

// Jobs of one machine and one background. Faults of any job's links are the machine's: all meet them, each also alone.
// Throws RangeError where two have a node in common, what simulate_step() throws, and what `on_size` does.
Sharing share(const std::vector<PlacedJob>& jobs, const SharingOptions& options = {});

}  // namespace weft
