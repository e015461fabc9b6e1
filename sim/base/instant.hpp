// The event clock: int64 femtoseconds since the start of the simulation. Equal means equal; no epsilons.
//
// Why femtoseconds: a result must agree with its closed form to 1e-9 relative down to a single microsecond, which a
// picosecond tick (1e-6 of a microsecond) cannot hold. The range is 2^63 fs = 9,223 s (2.5 hours): a step that is
// longer is refused by the engine, never wrapped.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

#include "sim/base/check.hpp"
#include "sim/base/quantity.hpp"

namespace weft {

struct Instant {
    std::int64_t femtoseconds = 0;

    static constexpr double ticks_per_second = 1e15;

    constexpr auto operator<=>(const Instant&) const = default;
    static constexpr Instant never() { return {std::numeric_limits<std::int64_t>::max()}; }
};

// The only rounding from durations to the clock: to the nearest tick. Throws RangeError past the end of the clock.
inline Instant operator+(Instant start, Seconds duration) {
    const double ticks = duration.value * Instant::ticks_per_second;
    if (!(ticks >= 0.0 && ticks < 9.2e18 - static_cast<double>(start.femtoseconds))) {
        throw RangeError("simulated time leaves the clock's range of 0 to 9,200 s");
    }
    return {start.femtoseconds + std::llround(ticks)};
}

inline constexpr Seconds operator-(Instant end, Instant start) {
    return {static_cast<double>(end.femtoseconds - start.femtoseconds) / Instant::ticks_per_second};
}

inline constexpr Seconds since_start(Instant t) { return t - Instant{}; }

// Whole ones since the start, to the nearest: the clock of traces.
inline constexpr std::int64_t nanoseconds(Instant t) { return (t.femtoseconds + 500'000) / 1'000'000; }

// Durations that an engine adds to the clock many times, rounded to it once.
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

}  // namespace weft
