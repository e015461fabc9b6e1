// Why a step takes as long as it does: its critical path through ranks, lanes, exchanges and links, by cause.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/device/device.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/critical_path.hpp"
#include "sim/engine/replay.hpp"
#include "sim/program/program.hpp"
#include "sim/topology/topology.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/job/job.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/script/script.hpp"
#include "workloads/step/step_builder.hpp"

namespace weft {

// Why each op on the critical path of a step takes as long as it does.

// What the time of a computation scales with: the rates and latencies of the device and its host. Every term of
// kernel_time() has one of these as a factor, so that the derivatives of a time by their logarithms add up to it
// (Euler's theorem on homogeneous functions).
struct DeviceLimit {
    std::string_view cause;                           // what computes at this limit
    std::string_view knob;                            // the limit itself
    void (*speed_up)(Device& device, double factor);  // 2: twice as fast
};

std::span<const DeviceLimit> device_limits();

// The same step on another device: how long its computations would take there.
class OtherDevices {
  public:
    // `step` was built from `plan`. Both must outlive this.
    OtherDevices(const Plan& plan, const Step& step);

    // Program::work with the study's device in place of the plan's; the study differs from the plan's in the device
    // alone. Nothing where a stage would do something else there. Computations that take the same time on the plan's
    // device have one number: where they would not on the study's, it is the time of one of them.
    std::optional<std::vector<Seconds>> work(const Study& study) const;

  private:
    const Plan& plan_;
    const Step& step_;
    std::map<std::uint32_t, Script> scripts_;  // of the stages that work comes from
};

// One reason, and what it is about.
struct Cause {
    std::string name;       // "matrix products", "transfer", ...
    std::string dimension;  // of communication: "tensor"; else empty
    std::string link;       // of a transfer: the class of the links that bound it, or what else does; else empty

    auto operator<=>(const Cause&) const = default;
};

// "tensor transfer over infinity_fabric.x4"
std::string cause_text(const Cause& cause);

struct CauseTime {
    Cause cause;
    std::int64_t ticks = 0;
};

class PathCauses {
  public:
    // Of the study's step, whose ops are kept (Kept::ops). It must outlive this.
    PathCauses(const Study& study, const Simulation& run);

    // They sum to the piece to the tick.
    //   computation: what runs at each limit of the device; "optimizer"; "interference" by communication beside it;
    //                copies between device and host by direction; "other computation", which scales with none of these;
    //   communication: "latency" of its legs; "transfer" of their bytes as if alone on the links; "sharing": the rest,
    //                what others take of these links.
    std::vector<CauseTime> of(const PathPiece& piece) const;

    // What bounds the rate of a pattern alone: a link of it, or none (a limit of channels or protocol).
    struct Bound {
        BytesPerSecond rate;
        LinkId link{};
        bool is_link = false;
    };
    Bound bound(PatternId pattern) const;
    std::set<LinkClassId> crossed(OpId exchange) const;  // by its bytes

  private:
    void add_computation(const PathPiece& piece, const Op& op, std::vector<CauseTime>& causes) const;
    void add_communication(const PathPiece& piece, const Op& op, std::vector<CauseTime>& causes) const;

    const Simulation& run_;
    const Program& program_;
    ComputeTimes works_;
    // By number of device_limits() and of Program::work: how much of it runs at the limit; what is left of 1 scales
    // with none of them. Empty: not known, as stages would do something else on a device with a higher limit.
    std::vector<std::vector<float>> shares_;
};

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

// Layers of one kind on a stage; times, bytes and parameters are of one of them on one rank.
struct LayerKindUse {
    std::string kind;  // as the model names it, or what is in it
    std::uint32_t layers = 0;
    double parameters = 0;
    Seconds forward{}, backward{};  // of a micro-batch, without calls and without what runs again
    Bytes activations{};            // that a micro-batch leaves for backward
};

struct Rooflines {
    std::uint32_t stage = 0;
    DeviceRoofline device;
    std::vector<FabricUse> fabric;    // the longest first
    std::vector<LayerKindUse> kinds;  // in the order of their first layers; empty where all are of one
};

DeviceRoofline device_roofline(const Plan& plan, std::uint32_t stage);
std::vector<LayerKindUse> kinds_of_layers(const Plan& plan, std::uint32_t stage);
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

// What could be otherwise about a step or its job, and what the step would then take: each change on its own, foreseen
// or simulated.

using LinkClassTable = Table<LinkClassId, LinkClass>;

// A change of one of four things that a step is made from; of the others it says nothing.
struct WhatIf {
    std::string knob;    // what is changed: "slingshot.global", "matrix products"
    std::string change;  // "2x faster", "10 % faster", "none"
    std::function<void(Device&)> device{};
    std::function<void(LinkClassTable&)> links{};
    std::function<void(Program&)> program{};
    std::function<void(Study&)> study{};  // makes another program
    bool slight = false;                  // so that the path stays the path, or nearly
};

// Of what takes part of the critical path, or may: limits of the device, classes of links, dimensions of communication,
// the pipeline's dependencies, recomputation, imbalance, interference, slow chips. What a job has not is left out.
std::vector<WhatIf> what_ifs(const Study& study, const ExplainedStep& step, const Explanation& explanation);

// The step's length with the change. `devices`: of `step`, which was built from the study with these options. But for a
// change of the study it does what it did, by the same algorithms.
Seconds simulate_what_if(const WhatIf& change, const Study& study, const Step& step, const OtherDevices& devices,
                         const SimulationOptions& options, PreparedTopology& prepared);

// Settings that a job could have instead of what it has, one step away: the next value of every knob of a search, and
// what frameworks can switch besides.
struct Alternative {
    std::vector<std::string> assignments;  // "layout.tensor=8", ...: with these the job file is the other job's
    bool changes_numerics = false;         // what is computed is not the same to rounding
};

// Whether they are another job's at all, and one that can be run, the job reader tells.
std::vector<Alternative> alternatives(const Job& job);

// What a change of a step would give, without simulating it.
class Foresight {
  public:
    // All must outlive this; `devices` and `explanation` of the step.
    Foresight(const Study& study, const ExplainedStep& step, const OtherDevices& devices,
              const Explanation& explanation);

    // What ops would take, what is shared aside; nothing of a change that makes another program.
    std::optional<OtherTimes> times(const WhatIf& change) const;

    // The step if its path stayed its path. Where all ops become shorter it is not shorter than that.
    Seconds first_order(const OtherTimes& times) const;
    // With whatever path is then the longest.
    Seconds replayed(const OtherTimes& times) const;
    // By how much the step could be shorter still because less is shared: at most as much as the links are faster.
    Seconds undecided(const WhatIf& change) const;

  private:
    std::vector<std::int64_t> longer_transfers(const LinkClassTable& links) const;
    OtherTimes program_times(const WhatIf& change) const;

    const Study& study_;
    const ExplainedStep& step_;
    const OtherDevices& devices_;
    const Explanation& explanation_;
    Replay replay_;
};

}  // namespace weft
