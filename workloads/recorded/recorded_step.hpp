// One step of a trace: its kernels with what launched them, the pass and layer they belong to, and the times at which
// the device had nothing to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/recorded/kineto_trace.hpp"
#include "workloads/recorded/work_class.hpp"

namespace weft {

constexpr std::int32_t no_layer = -1;  // embedding, head, and what is done once per step

struct RecordedKernel {
    std::uint32_t event = 0;    // into KinetoTrace::kernels
    std::int64_t launched = 0;  // by the host, ns
    WorkClass what = WorkClass::other;
    WorkPass pass = WorkPass::forward;
    std::int32_t layer = no_layer;
    std::uint32_t operation = 0, dims = 0;  // texts: what launched it; 0: not recorded
    // Of its time what no computation that began before covers; of communication, what no computation covers. These
    // and the gaps add up to the step.
    std::int64_t exposed = 0;
    std::int64_t beside = 0;  // of the time of computation, ns in which the device communicated, too
};

// Why the device was idle.
struct RecordedGaps {
    std::int64_t between = 0;          // the next kernel had been launched before the last one ended, and followed
    std::int64_t waiting = 0;          // it had, and waited longer than devices do between kernels: for other ranks
    std::int64_t host = 0;             // it had not
    std::int64_t synchronisation = 0;  // nor could it: the host had waited for the device
    std::int64_t end = 0;              // behind the last kernel

    std::int64_t sum() const { return between + waiting + host + synchronisation + end; }
};

struct RecordedStep {
    std::string name;                 // "ProfilerStep#12", or "the whole trace"
    std::size_t steps = 1;            // in the trace
    std::int64_t begin = 0, end = 0;  // ns
    std::vector<RecordedKernel> kernels;
    RecordedGaps gaps;
    std::int64_t operations = 0;  // that the host issued and the profiler recorded
    // Of the host, median over layers: from its first launch for one to that for the next, forward and backward. 0 with
    // fewer than three layers.
    struct LayerIssue {
        std::int64_t time = 0;  // ns
        double operations = 0;  // that the profiler recorded
    };
    LayerIssue forward, backward;
    // How many times as long kernels take while their device communicates: equal ones, by name and shapes, wholly
    // beside it and by themselves. 0: none ran both ways.
    double slow_down = 0;

    std::int64_t duration() const { return end - begin; }
};

// Which of several steps: that of median length, or the one in the middle, which is the same on all ranks.
enum class WhichStep : std::uint8_t { median, middle };

// `layers` of the model, which the trace does not name. A step lasts from the end of the one before, on the device, to
// its own.
RecordedStep recorded_step(const KinetoTrace& trace, std::uint32_t layers, WhichStep which = WhichStep::median);

// Fills in what the kernels expose and what runs beside communication, the gaps, and what the host takes for a layer.
void add_up_time(const KinetoTrace& trace, RecordedStep& step);

}  // namespace weft
