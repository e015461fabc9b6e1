// Why each op on the critical path of a step takes as long as it does.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/device/device.hpp"
#include "sim/engine/critical_path.hpp"
#include "workloads/job/job.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/script/script.hpp"
#include "workloads/step/step_builder.hpp"

namespace weft {

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

}  // namespace weft
