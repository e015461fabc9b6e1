// Reads a script as one rank alone would run it: computation and blocking calls one after another, what is issued on a
// lane for each set of groups, every call as long as on idle links, peers never late.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "workloads/script/script.hpp"
#include "workloads/search/call_costs.hpp"

namespace weft {

class ScriptClock {
  public:
    struct Reading {
        Seconds time;     // of the chain, from the start
        Seconds compute;  // of it: at work; the rest is spent in calls or waiting for them
    };

    // `interference`: Device::interference.
    ScriptClock(CallCosts& costs, std::uint32_t stage, double interference);

    // After all that the script says so far. What was read before must not have changed.
    Reading read(const Script& script);

  private:
    double call(const Call& call, double ready, double duration);
    double compute(double duration) const;  // its end

    CallCosts& costs_;
    std::uint32_t stage_;
    double interference_;
    std::vector<double> end_;        // of actions
    std::vector<double> durations_;  // of calls
    double chain_ = 0, computed_ = 0, host_ = 0;
    double stored_ = 0, loaded_ = 0;          // until when copies to the host and from it go on
    double busy_ = 0;                         // until when some lane transfers
    std::map<RankGroups, double> free_from_;  // of lanes
};

}  // namespace weft
