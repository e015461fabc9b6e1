// Executes a Program on a network.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/network/network_model.hpp"
#include "sim/program/program.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// The program waits in a circle; what() names the circle op by op.
struct Deadlock : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Runs to the end. Throws Deadlock; LogicError if bytes delivered differ from bytes asked for (checked in every run);
// RangeError past the end of the clock. Defined in sim/engine/run.hpp, for whoever brings a network model.
template <NetworkModel N>
Timeline run(const Program& program, const Topology& topology, N& network);

enum class NetworkKind : std::uint8_t {
    flow,   // max-min fair sharing of links
    ideal,  // alpha-beta: every flow as if alone
    free,   // communication takes no time at all: what computation and the schedule alone cost
};

enum class Recording : std::uint8_t {
    spans,
    spans_and_links,  // Timeline::samples as well
};

// Told now and then how many flows are over, of how many: those that run ahead are never told of. What it throws ends
// the run.
using FlowListener = std::function<void(std::uint64_t over, std::uint64_t all)>;

Timeline simulate(const Program& program, const Topology& topology, NetworkKind kind,
                  Recording recording = Recording::spans, const FlowListener& listener = {});

// What flows move on each pattern in each of so many equal parts of a run, which `simulate` found to end at `end`. Runs
// it once more; nothing for a network that is free.
std::vector<Table<PatternId, Bytes>> moved_in_slices(const Program& program, const Topology& topology, NetworkKind kind,
                                                     Instant end, std::uint32_t slices,
                                                     const FlowListener& listener = {});

// Why a run cannot go on, in words.
// "stage 0: send activation #3", with ", part 2" if the op is a part other than 0.
std::string describe(const Program& program, OpId op);

// The circle of ops that wait for one another, the first ten, one line each, of a program that cannot end. That does
// not depend on how long things take.
std::string explain_deadlock(const Program& program);

}  // namespace weft
