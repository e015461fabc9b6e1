// What a run meets: failures, planned stops, spares and its part of the file system, each as it was asked for, as the
// machine's file has it, or as published runs had it.
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

}  // namespace weft
