// A recorded step beside a simulated one: kernels by pass, layer and class, gaps by cause, calls by group. On either
// side what classes expose and the gaps add up to the step.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"
#include "workloads/recorded/kineto_trace.hpp"
#include "workloads/recorded/recorded_step.hpp"
#include "workloads/recorded/simulated_work.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// What an operation takes longer for being recorded with its shapes: the host's time for four steps of one H100 with
// and without the profiler (PyTorch 2.11) differs by 2.9, 6.0, 6.0 and 6.5 us for each. Where the host is ahead of the
// device the step is no longer for it.
inline constexpr Seconds profiling_of_operation{6e-6};

enum class Side : std::uint8_t { recorded, simulated };
template <class Value>
using Sides = std::array<Value, 2>;

// Kernels of one class in one pass: of one layer, or of all.
struct ComparedWork {
    WorkKey key;
    Sides<double> kernels{};
    Sides<std::int64_t> femtoseconds{};  // of their own; overlapping ones count each
    // Of it what lies on no earlier kernel: as compute goes one after another in a simulation, there all of it.
    Sides<std::int64_t> exposed{};
    std::int64_t beside = 0;  // fs of the recorded computation in which its device communicated
    Flops flops{};            // simulated: executed, read and written; the rate of either side is over these
    Bytes bytes{};

    std::int64_t difference() const { return femtoseconds[0] - femtoseconds[1]; }
};

struct ComparedGap {
    std::string cause;
    Sides<std::int64_t> femtoseconds{};
    bool is_of_host = false;  // the device waits for it
};

struct ComparedCall {
    std::string op;
    std::uint32_t ranks = 0;
    std::string dimension{};  // of the simulated ones; empty: there are none, or of several
    std::string method{};  // algorithm and protocol of a simulated one: what ran a recorded one its kernel does not say
    Sides<double> calls{};
    Sides<double> bytes{};  // full buffers
    Sides<double> seconds{};
};

// Kernels that are not in the simulation, or that it has and the trace has not.
struct Unmatched {
    Side side{};
    WorkKey key;
    std::string kernel, operation;  // of a recorded one: the longest
    double kernels = 0;
    std::int64_t femtoseconds = 0;
};

struct StepComparison {
    std::string trace, device;
    RecordedStep recorded;  // its kernels in the classes that they are compared in
    std::uint32_t stage = 0;
    Sides<std::int64_t> ranks{};        // that ran; recorded -1: not said
    Sides<std::int64_t> duration{};     // fs
    std::vector<ComparedWork> classes;  // over all layers: the largest difference first
    std::vector<ComparedWork> layers;   // in the order of the step
    std::vector<ComparedGap> gaps;
    std::vector<ComparedCall> calls;
    std::vector<Unmatched> unmatched;  // the longest first
    double named = 0;                  // of the recorded kernels' time, in a class other than `other`
    double matched = 0;                // in a pass, layer and class that the simulation has, too
    std::int64_t profiling = 0;        // fs, estimated: what recording made the host's part longer
    // fs that the host takes to issue a layer; recorded: less what the profiler takes. 0: not told.
    Sides<std::int64_t> host_forward{}, host_backward{};
    std::int64_t between = 0;  // fs from a kernel to the next one that was launched in time, recorded, mean
    Sides<double> memory{};    // bytes allocated; 0: not recorded
};

// What a kernel of a communication library says of its call: recorded, one of it.
ComparedCall recorded_call(const KinetoTrace& trace, const DeviceEvent& kernel);

// By operation, group and size: a row each, sizes ascending.
std::vector<ComparedCall> compared_calls(const KinetoTrace& trace, const RecordedStep& step, const Simulation& run,
                                         std::uint32_t stage);

// `run`: of the job that was recorded, with every op by itself (Kept::ops).
StepComparison compare_step(const KinetoTrace& trace, const Simulation& run);

}  // namespace weft
