// What the collectives of a recorded program took, as a benchmark would have measured them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "topologies/machine.hpp"
#include "topologies/measurements/measurement.hpp"
#include "workloads/recorded/program.hpp"

namespace weft {

struct MeasuredCalls {
    std::vector<CollectiveMeasurement> rows{};  // by operation, ranks, nodes and size
    std::size_t incomplete = 0;                 // of them: ranks of all their calls have no file
    std::vector<std::string> skipped{};         // groups that say nothing, and why
};

// A call lasts from the coming of its last rank, as long as on the rank that waits least. Of equal calls the median
// counts; of those that other ranks may have been late for, which have no file, the shortest. Ranks fill the nodes of
// the machine in order. Skipped are groups of some ranks of several nodes, which share the NICs with others like them,
// and those whose ranks do not make the same calls one after another, as in traces of different steps.
MeasuredCalls measured_calls(const RecordedProgram& program, const MachineInfo& machine);

}  // namespace weft
