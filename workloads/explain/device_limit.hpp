// What the time of a computation scales with: the rates and latencies of the device and its host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/device/device.hpp"
#include "workloads/job/job.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/script/script.hpp"
#include "workloads/step/step_builder.hpp"

namespace weft {

// Every term of kernel_time() has one of these as a factor, so that the derivatives of a time by their logarithms add
// up to it (Euler's theorem on homogeneous functions).
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

// How much of a computation runs at which limit of the device.

// By comparing the work of the step with that on a device of which one limit is a little higher: logarithmic
// derivatives.
class LimitShares {
  public:
    static constexpr std::size_t limits = 5;
    static_assert(limits <= 8);

    // Of the study's step. Where stages would do something else on a device with a higher limit, nothing is known of
    // that limit.
    LimitShares(const Study& study, const Step& step, const OtherDevices& devices);

    // Of Program::work[number], by the number of device_limits(); what is left of 1 scales with none of them.
    std::array<double, limits> of(std::uint32_t number) const;

  private:
    std::array<std::vector<float>, limits> shares_;  // by number; empty: not known
};

}  // namespace weft
