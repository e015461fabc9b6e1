// How much of a computation runs at which limit of the device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/table.hpp"
#include "workloads/explain/device_limit.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/job.hpp"
#include "workloads/plan.hpp"
#include "workloads/step/step_builder.hpp"

namespace weft {

// By comparing the step's program with that of a device of which one limit is a little higher: the logarithmic
// derivative of each op's work.
class LimitShares {
  public:
    static constexpr std::size_t limits = 5;
    static_assert(limits <= 8);

    // `step` was built with `folding` from `plan`, which is make_plan(study). Where a device with a higher limit makes
    // a program of another structure, nothing is known of that limit.
    LimitShares(const Study& study, const Plan& plan, PreparedTopology& prepared, Folding folding, const Step& step);

    // Of an op of the step's program (its routines' ops among them), by the number of device_limits(); what is left of
    // 1 scales with none of them.
    std::array<double, limits> of(OpId compute) const;

  private:
    const Program& program_;
    std::array<std::vector<float>, limits> shares_;  // by op; empty: not known
};

}  // namespace weft
