// Where the time of one rank goes while a recorded program runs: each moment is given to the first thing that the rank
// does then. Exact: what is given sums to the length of the run, to the tick.
#pragma once

#include <array>
#include <cstdint>

#include "sim/base/check.hpp"
#include "sim/base/instant.hpp"
#include "workloads/recorded/replay.hpp"

namespace weft {

class ActivityClock {
  public:
    void begin(RankActivity what, Instant now) {
        pass(now);
        ++under_way_[static_cast<std::size_t>(what)];
    }
    void end(RankActivity what, Instant now) {
        pass(now);
        --under_way_[static_cast<std::size_t>(what)];
    }
    ActivityTimes times(Instant over) {
        pass(over);
        ActivityTimes times;
        for (std::size_t i = 0; i < rank_activities; ++i) times[i] = since_start({ticks_[i]});
        return times;
    }

  private:
    void pass(Instant now) {
        if (now == since_) return;
        std::size_t first = 0;
        while (first + 1 < rank_activities && under_way_[first] == 0) ++first;  // the last: nothing is under way
        ticks_[first] += now.femtoseconds - since_.femtoseconds;
        since_ = now;
    }

    std::array<std::uint32_t, rank_activities> under_way_{};
    std::array<std::int64_t, rank_activities> ticks_{};
    Instant since_;
};

}  // namespace weft
