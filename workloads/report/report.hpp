// The result of a simulated step as plain values.
// Time of a step, mean over ranks: compute + exposed communication + bubble + imbalance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/memory/memory.hpp"
#include "sim/base/quantity.hpp"
#include "sim/program/program.hpp"
#include "topologies/vertex_names.hpp"
#include "workloads/job/job.hpp"
#include "workloads/metrics/metric.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

struct DimensionTime {
    std::string dimension;  // "tensor", "data", "pipeline", ...
    Seconds time;
};

// A pipeline stage: means over its ranks.
struct StageReport {
    std::string name;
    std::uint32_t stage = 0;
    std::uint32_t ranks = 0;
    std::uint32_t layers = 0;
    Seconds compute, optimizer, exposed, idle;  // compute includes the optimizer; compute + exposed + idle = step
    std::vector<DimensionTime> dimensions;      // of exposed, in the order of lanes; those without any are left out
    MemoryUse memory;
};

// Calls that carry the same by the same method, mean over all ranks.
struct CallReport {
    Bytes message;  // full buffer of one call
    Method method;
    double calls = 0;
    Seconds time;                  // in transfer, of all of them
    BytesPerSecond bus_bandwidth;  // message / time x bus_factor(), as nccl-tests has it; 0 in no time
};

// Calls of one kind, mean over all ranks.
struct CommunicationReport {
    std::string dimension;
    std::string op;
    std::uint32_t group_size = 1;
    double calls = 0;
    Bytes bytes;                         // put on the wire by one rank
    Seconds time;                        // in transfer, not waiting for others
    Seconds exposed;                     // of it, while the rank computed nothing
    std::vector<CallReport> by_message;  // ascending
};

struct LinkReport {
    std::string link_class;
    double utilization = 0;       // mean over the links of the class
    double peak_utilization = 0;  // of its busiest link
};

struct Report {
    std::string job, machine, model, framework, layout, batch, network;
    std::vector<std::string> lacking;  // features that the framework's version has not: modelled, cannot be run
    std::vector<std::string> remarks;  // what the result rests on that the job does not say, and what it should know
    std::uint64_t parameters = 0, active_parameters = 0, trained_parameters = 0;  // of the model
    std::vector<Metric> metrics;                                                  // begins with known_metrics()
    std::vector<StageReport> stages;
    std::vector<CommunicationReport> communication;  // sorted by dimension, op, group size
    std::vector<LinkReport> links;                   // busiest class first
    std::vector<HotLink> hottest;                    // of each class some, busiest first
    std::optional<CongestedSteps> congested{};       // filled in by who asks congested_steps()
    std::vector<MemoryAdvice> advice;                // filled in by who asks memory_advice(), where a job does not fit
    std::uint32_t ranks = 0;
    std::uint32_t classes = 0;  // of ranks, that were simulated for all
    Folding folding = Folding::exact;
    std::optional<StepSize> exact;  // Step::exact
    std::vector<Split> splits;      // why there are more classes than stages
    std::uint64_t events = 0, solves = 0;

    double metric(std::string_view key) const;  // LogicError if there is none
    bool has(std::string_view key) const;
};

Report make_report(const Simulation& simulation);
// What is known of a step before it is simulated: its memory.
Report planned_report(const Plan& plan, NetworkKind network);

// TFLOP/s per accelerator as different codes print it for one and the same step. Formulas:
// models/transformer/flops.hpp.

enum class FlopConvention : std::uint8_t {
    model,          // the matrix products of forward and backward: what MFU means
    megatron,       // Megatron-LM of 2021, Megatron-DeepSpeed, GPT-NeoX since 2023-09-27: full recomputation counts
    neox,           // GPT-NeoX before that: attention five times, recomputed matrices not at all
    megatron_core,  // gated and grouped matrices, recomputed ones not at all; since core-0.12 half of attention
};

// Of one step of the job, all accelerators together.
Flops step_flops(const Job& job, FlopConvention convention);
// Of one accelerator, where the step takes `step`.
FlopsPerSecond flop_rate(const Job& job, FlopConvention convention, Seconds step);

// The same as a line of a report: throughput.<convention>_tflops_per_gpu.
Metric flop_metric(const Job& job, FlopConvention convention, Seconds step);

}  // namespace weft
