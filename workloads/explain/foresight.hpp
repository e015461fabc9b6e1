// What a change of a step would give, without simulating it.
#pragma once

#include <optional>

#include "sim/engine/replay.hpp"
#include "workloads/explain/explanation.hpp"
#include "workloads/explain/path_causes.hpp"
#include "workloads/explain/what_if.hpp"

namespace weft {

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
