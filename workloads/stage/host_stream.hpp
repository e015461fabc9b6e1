// The host of a rank launches kernels and calls one after another, ahead of the device until it waits for it. Where it
// launches slower than the device works, computation goes at its pace: a pass ends no earlier than its last launch.
#pragma once

#include <cstddef>

#include "workloads/plan.hpp"
#include "workloads/script/script.hpp"

namespace weft {

class HostStream {
  public:
    HostStream(const Plan& plan, Script& script) : plan_(plan), script_(script) {}

    // The host waits for all that was asked of the device so far.
    void synchronise();
    // A pass with `kernels` kernels begins; ends, with as many calls as the script got since.
    void begin(double kernels);
    void end(Where where);
    // Inside a pass: `left` of its kernels are launched once the host has seen what those before compute.
    void wait_for_results(double left, Where where);
    // The same, of what was computed by `result`, a now() of the script.
    void wait_for_results(ActionId result, double left, Where where);
    // What the next launch waits for beyond the host's own order; Action::none where there is nothing.
    ActionId ready() const { return ready_; }
    // A pass was written again, which ended with launches.
    void repeat() { ready_ = Action::none; }

  private:
    const Plan& plan_;
    Script& script_;
    ActionId ready_ = Action::none;  // the end of what the host waited for last
    double kernels_ = 0;
    std::size_t first_ = 0;  // action of the pass
};

}  // namespace weft
