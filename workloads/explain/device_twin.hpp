// The same step on another device: how long its computations would take there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "workloads/job/job.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/script/script.hpp"
#include "workloads/step/step_builder.hpp"

namespace weft {

class DeviceTwins {
  public:
    // `step` was built from `plan`. Both must outlive this.
    DeviceTwins(const Plan& plan, const Step& step);

    // Program::work with the study's device in place of the plan's; the study differs from the plan's in the device
    // alone. Nothing where a stage would do something else there. Computations that take the same time on the plan's
    // device have one number: where they would not on the study's, it is the time of one of them.
    std::optional<std::vector<Seconds>> work(const Study& study) const;

  private:
    const Plan& plan_;
    const Step& step_;
    std::map<std::uint32_t, Script> scripts_;  // of the stages that work comes from
};

}  // namespace weft
