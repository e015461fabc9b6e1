// How far a computation is that communication beside it slows down.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

// ns of the step's clock in which a rank communicates.
struct CallSpan {
    std::int64_t begin = 0, end = 0;
};

// One after another: those that touch become one.
inline void merge(std::vector<CallSpan>& calls) {
    std::ranges::sort(calls, {}, &CallSpan::begin);
    std::size_t last = 0;
    for (const CallSpan& each : calls) {
        if (each.begin > calls[last].end) calls[++last] = each;
        calls[last].end = std::max(calls[last].end, each.end);
    }
    if (!calls.empty()) calls.resize(last + 1);
}

// When a computation has done how much of itself: while its rank communicates it is slower by a factor.
class SlowedWork {
  public:
    // `calls` one after another.
    SlowedWork(std::int64_t begin, std::int64_t end, std::span<const CallSpan> calls, double factor) {
        double at = static_cast<double>(begin);
        const auto last = static_cast<double>(end);
        for (const CallSpan& call : calls) {
            if (call.begin >= end) break;
            const double from = std::clamp(static_cast<double>(call.begin), at, last);
            const double to = std::clamp(static_cast<double>(call.end), from, last);
            add(from - at, 1.0);
            add(to - from, factor);
            at = to;
        }
        add(last - at, 1.0);
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
    void add(double time, double factor) {
        if (time <= 0) return;
        pieces_.push_back({time, factor});
        work_ += time / factor;
    }
    std::vector<Piece> pieces_;
    double work_ = 0;
};

}  // namespace weft
