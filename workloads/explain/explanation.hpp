// Why a step takes as long as it does: its critical path through ranks, lanes, exchanges and links, by cause.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "workloads/explain/path_causes.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// What bounds the work of a rank: of the device, by class of kernel, the roofline model (Williams, Waterman, Patterson,
// "Roofline: an insightful visual performance model", CACM 52, 2009); of the fabric, by dimension and class of link,
// the same idea with line rate for peak.

// Kernels of a class in a step of one rank.
struct KernelClassUse {
    std::string name;                       // "attention products"
    Flops flops{};                          // executed
    Bytes bytes{};                          // read and written
    Seconds time{};                         // with the gaps between kernels
    Seconds computing{}, moving{}, gaps{};  // what of it is bound by products, by memory, and neither
    FlopsPerSecond peak{};                  // of their precision; 0 where they have no products

    double intensity() const { return flops.value / bytes.value; }  // FLOP/B; bytes > 0
    FlopsPerSecond achieved() const { return flops / time; }
    BytesPerSecond achieved_memory() const { return bytes / time; }
    std::string_view bound() const;  // "products", "memory" or "gaps between kernels"
};

struct DeviceRoofline {
    FlopsPerSecond peak, sustained;           // of the job's precision; at the clock and plateau that it keeps
    BytesPerSecond memory, sustained_memory;  // nominal; of element-wise kernels
    std::vector<KernelClassUse> kernels{};    // the longest first
    Seconds other{};  // of the device's work: what no kernel of the model is, as copies of parameters

    Seconds busy() const;                                  // the sum
    FlopsPerSecond roof(const KernelClassUse& use) const;  // at its intensity
};

// Calls of a dimension that the same kind of link bounds, in a step of one rank.
struct FabricUse {
    std::string dimension;
    std::string link;  // "channels": a limit of library or protocol before any link's
    std::uint64_t calls = 0;
    Bytes bytes;   // that the busiest of a ring would carry: nccl-tests' bus bandwidth counts them
    Seconds time;  // of calls, from the last arrival to their end, whether or not anybody waits
    Seconds transfer{}, endpoint{}, latency{},
        sharing{};  // that is: links, channels and protocol, latency, what others take
    Seconds line;   // at line rate, alone

    BytesPerSecond achieved() const { return bytes / time; }
    BytesPerSecond line_rate() const { return bytes / line; }  // line > 0
    std::string_view bound() const;                            // "bandwidth", "endpoint", "latency" or "sharing"
};

struct Rooflines {
    std::uint32_t stage = 0;
    DeviceRoofline device;
    std::vector<FabricUse> fabric;  // the longest first
};

DeviceRoofline device_roofline(const Plan& plan, std::uint32_t stage);
// Of the first rank class of the stage.
std::vector<FabricUse> fabric_roofline(const Simulation& run, const PathCauses& causes, std::uint32_t stage);

struct ExplainedCause {
    Cause cause;
    std::int64_t ticks = 0;
    std::int64_t elsewhere = 0;  // of these, on other stages than the path's main one: a pipeline's fill and drain
};

// A stretch of the path: one rank class at work on layers, or in calls of one other dimension.
struct PathStretch {
    std::string text;  // for people
    std::string rank_class;
    RankId rank{};  // that stands for its class
    std::uint32_t stage = 0;
    Instant begin, end;
    Cause cause;  // the largest in it
};

// Calls of one dimension and operation off the path: how much longer they all could take before they are on it.
struct Slack {
    std::string dimension, op;
    std::uint64_t calls = 0;
    Seconds transfer;       // sum over ranks that were simulated
    Seconds least, median;  // slack of a call
};

struct Explanation {
    Instant end;                         // of the step: the sum of the causes' ticks
    std::uint32_t main_stage = 0;        // on which the path is longest
    std::vector<ExplainedCause> causes;  // the longest first
    std::vector<PathPiece> path;         // in order of time
    std::vector<PathStretch> stretches;  // the longest ones, the longest first
    std::vector<Slack> slack;            // the tightest first
    // Of the ticks of sharing, those of calls that cross links of a class: what one call shares may be any of its
    // links.
    Table<LinkClassId, std::int64_t> shared;
    Rooflines rooflines;  // of a rank of the main stage

    std::int64_t elsewhere() const;
};

// A step with its folded program beside the one of single ops.
struct ExplainedStep {
    Simulation run;  // every op by itself
    Step folded;
};

// Simulates make_plan(study) on its topology. `options.kept` does not matter.
ExplainedStep simulate_to_explain(const Study& study, SimulationOptions options,
                                  std::unique_ptr<PreparedTopology> prepared);

Explanation explain(const Study& study, const ExplainedStep& step);

// Pieces that follow one another on one rank class and belong to the layers (computation, the calls of tensor, context
// and expert ranks between, and what stages hand over), to the optimizer, or to one other dimension are one stretch.
// The `most` longest are told, the longest first.
std::vector<PathStretch> longest_stretches(const Simulation& run, std::span<const PathPiece> path,
                                           const PathCauses& causes, std::size_t most);

}  // namespace weft
