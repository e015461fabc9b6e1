// How much of a computation runs at which limit of the device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/explain/device_limit.hpp"
#include "workloads/explain/device_twin.hpp"
#include "workloads/job/job.hpp"
#include "workloads/step/step_builder.hpp"

namespace weft {

// By comparing the work of the step with that on a device of which one limit is a little higher: logarithmic
// derivatives.
class LimitShares {
  public:
    static constexpr std::size_t limits = 5;
    static_assert(limits <= 8);

    // Of the study's step. Where stages would do something else on a device with a higher limit, nothing is known of
    // that limit.
    LimitShares(const Study& study, const Step& step, const DeviceTwins& twins);

    // Of Program::work[number], by the number of device_limits(); what is left of 1 scales with none of them.
    std::array<double, limits> of(std::uint32_t number) const;

  private:
    std::array<std::vector<float>, limits> shares_;  // by number; empty: not known
};

}  // namespace weft
