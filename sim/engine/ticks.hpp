// Durations that an engine adds to the clock many times, rounded to it once.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/base/check.hpp"
#include "sim/base/instant.hpp"
#include "sim/base/quantity.hpp"

namespace weft {

inline constexpr std::int64_t end_of_clock = 9'200'000'000'000'000'000;

inline std::int64_t ticks(Seconds duration) { return (Instant{} + duration).femtoseconds; }

// As `start + duration`: the same tick, and the same refusal past the end of the clock.
inline Instant after(Instant start, std::int64_t ticks) {
    if (ticks >= end_of_clock - start.femtoseconds) {
        throw RangeError("simulated time leaves the clock's range of 0 to 9,200 s");
    }
    return {start.femtoseconds + ticks};
}

// The end of the clock for what would be past it.
inline Instant after_or_end(Instant start, std::int64_t ticks) {
    return {ticks < end_of_clock - start.femtoseconds ? start.femtoseconds + ticks : end_of_clock};
}

// `factor` >= 1 times as long; the end of the clock for whatever is longer.
inline std::int64_t scaled(std::int64_t ticks, double factor) {
    const double longer = static_cast<double>(ticks) * factor;
    return longer < static_cast<double>(end_of_clock) ? std::llround(longer) : end_of_clock;
}

// How far a computation has come that runs slower beside communication: exact on the clock. Of an op that takes w ticks
// undisturbed, what is left after c ticks undisturbed and s beside communication is w - c - s / factor undisturbed, or
// factor (w - c) - s beside it; rounded once, from numbers that were never rounded before, however often communication
// comes and goes.
// What the computations of a rank class have beside them: an exchange in transfer, which slows them, or nothing.
enum class Disturbance : std::uint8_t { none, transfer };

struct WorkProgress {
    Instant since;  // until when these are counted, in ticks
    std::int64_t clean = 0, contended = 0;

    void advance(Instant now, Disturbance beside) {
        (beside == Disturbance::transfer ? contended : clean) += now.femtoseconds - since.femtoseconds;
        since = now;
    }
    // In ticks, of `work` ticks, as long as what is beside it stays; at most the end of the clock.
    std::int64_t left(std::int64_t work, Disturbance beside, double factor) const {
        if (beside == Disturbance::transfer) return scaled(work - clean, factor) - contended;
        return contended == 0 ? work - clean : work - clean - std::llround(static_cast<double>(contended) / factor);
    }
};

}  // namespace weft
