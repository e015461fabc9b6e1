// What the meetings of a recorded program cost on a machine: how its library carries each, as latencies and bytes on
// links. Equal calls are worked out once. And what its computation costs on a device.
#pragma once

#include <cstdint>
#include <vector>

#include "models/device/device.hpp"
#include "sim/cost/library.hpp"
#include "sim/network/network_model.hpp"
#include "sim/program/program.hpp"
#include "sim/topology/topology.hpp"
#include "workloads/recorded/checks.hpp"
#include "workloads/recorded/program.hpp"

namespace weft {

// A stretch of a call: latency first, then bytes on a pattern.
struct CallStretch {
    std::int64_t ticks = 0;
    PatternId pattern{};
    Bytes bytes{};
};

struct RecordedCall {
    Collective op{};
    std::uint32_t members = 1;
    Bytes message{};  // full buffer (nccl-tests convention)
    Method method{};
    std::uint32_t first = 0, stretches = 0;  // of RecordedCosts::stretches
    // Of a message: from when its sender is through with it until it arrives. Its latency but for the launch, which the
    // sender does not wait for.
    std::int64_t flight = 0;
};

struct RecordedCosts {
    std::vector<RecordedCall> calls{};
    std::vector<std::uint32_t> call_of{};  // by meeting
    std::vector<CallStretch> stretches{};
    Table<PatternId, Pattern> patterns{};
};

// The full buffer of a call, of what each member puts in.
Bytes full_message(Collective op, Bytes put_in, std::uint32_t members);

// Rank r of the program is rank r of the topology. `host`: what a host that waits for its calls adds to each
// collective. Throws RangeError where the library cannot carry a call.
RecordedCosts recorded_costs(const RecordedProgram& program, const Meetings& meetings, const Topology& topology,
                             const Library& library, Seconds host = {});

// How long computation takes: so many times as long as recorded.
void scale_computation(RecordedProgram& program, double factor);

// Roofline: the longer of FLOPs at the plateau of products in 16 bits and bytes at what element-wise kernels reach,
// after a launch. Nodes of the host, and those that tell neither, keep their recorded time, which a note says.
void compute_on(RecordedProgram& program, const Device& device);

}  // namespace weft
