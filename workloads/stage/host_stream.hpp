// The host of a rank launches kernels and calls one after another, ahead of the device until it waits for it. Where it
// launches slower than the device works, computation goes at its pace: a pass ends no earlier than its last launch.
#pragma once

#include <cstddef>

#include "workloads/plan/plan.hpp"
#include "workloads/script/script.hpp"

namespace weft {

class HostStream {
  public:
    HostStream(const Plan& plan, Script& script) : plan_(plan), script_(script) {}

    // The host waits for all that was asked of the device so far.
    void synchronise();
    // A pass begins; operations are issued in it, and the calls that the script gets; it ends.
    void begin();
    void issue(double operations) { operations_ += operations; }
    void end(Where where);
    // Inside a pass: what follows is issued once the host has seen what was computed by `result`, a now() of the
    // script.
    void wait_for_results(ActionId result, Where where);
    // What the next launch waits for beyond the host's own order; Action::none where there is nothing.
    ActionId ready() const { return ready_; }
    // A pass was written again, which ended with launches.
    void repeat() { ready_ = Action::none; }

  private:
    const Plan& plan_;
    Script& script_;
    ActionId ready_ = Action::none;  // the end of what the host waited for last
    double operations_ = 0;          // of the pass, since it began or waited
    std::size_t first_ = 0;          // action since then
};

}  // namespace weft
