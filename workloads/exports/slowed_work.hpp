// How far a computation is that communication beside it slows down.
#pragma once

#include <algorithm>
#include <vector>

#include "workloads/recorded/stretches.hpp"

namespace weft {

// When a computation has done how much of itself: while its rank communicates it is slower by a factor.
class SlowedWork {
  public:
    SlowedWork(const Stretch& work, const Stretches& calls, double factor) {
        std::int64_t at = work.lower();
        for (const Stretch& call : within(calls, work)) {
            add(call.lower() - at, 1.0);
            add(call.upper() - call.lower(), factor);
            at = call.upper();
        }
        add(work.upper() - at, 1.0);
    }
    // ns from its begin until `share` of it is done.
    double time_of(double share) const {
        double left = share * work_, time = 0;
        for (const Piece& piece : pieces_) {
            const double done = std::min(left, piece.time / piece.factor);
            time += done * piece.factor;
            left -= done;
        }
        return time + left;
    }

  private:
    struct Piece {
        double time = 0, factor = 1;
    };
    void add(std::int64_t time, double factor) {
        if (time == 0) return;
        pieces_.push_back({static_cast<double>(time), factor});
        work_ += pieces_.back().time / factor;
    }
    std::vector<Piece> pieces_;
    double work_ = 0;
};

}  // namespace weft
