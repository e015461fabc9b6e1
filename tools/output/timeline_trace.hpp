// The timeline of a run as a trace for viewers: by the name of its file in Chrome's format (.json, .json.gz) or in
// Perfetto's (.pftrace), a third as large. What stands in it:
//
//   process  a rank class (pid = index + 1), its threads the lanes; last, "network" with the links' utilization
//   slice    an operation (args of a call: what carried it, and its bus bandwidth), or, named "wait", the time that it
//            was ready but its partners were not
//   flow     an arrow from a send to its receive
//   counter  utilization per link class, and the caller's series per rank class
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/program/program.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// A quantity of one rank class over time: from each point until the next.
struct CounterSeries {
    struct Point {
        Instant at;
        double value = 0.0;
    };
    RankClassId rank_class{};
    std::string name{};  // "memory"
    std::string unit{};  // "bytes"
    std::vector<Point> points{};
};

struct TraceOptions {
    std::string title{};                    // of the run, for the reader's information page
    std::vector<CounterSeries> counters{};  // besides the links' utilization
    std::vector<RankClassId> classes{};     // to show; empty: all
    std::size_t most_slices = 2'000'000;    // browsers cope with a few million
};

// Times are microseconds with three decimals. Instants are rounded to nanoseconds, durations are their differences:
// slices of a lane that touch still touch and none overlap, not even where ts and dur are added as doubles. Operations
// that round to no time have no slice.
//
// Writes the trace as it is made, compressed if the name ends in .gz: it may be larger than memory. Returns a warning
// for the user, empty if nothing was left out. Throws std::runtime_error if the file cannot be written.
std::string write_trace(const std::filesystem::path& path, const Program& program, const Timeline& timeline,
                        const Topology& topology, const TraceOptions& options = {});

}  // namespace weft
