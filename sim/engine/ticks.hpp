// Durations that an engine adds to the clock many times, rounded to it once.
#pragma once

#include <cstdint>

#include "sim/base/check.hpp"
#include "sim/base/instant.hpp"
#include "sim/base/quantity.hpp"

namespace weft {

inline std::int64_t ticks(Seconds duration) { return (Instant{} + duration).femtoseconds; }

// As `start + duration`: the same tick, and the same refusal past the end of the clock.
inline Instant after(Instant start, std::int64_t ticks) {
    if (ticks >= 9'200'000'000'000'000'000 - start.femtoseconds) {
        throw RangeError("simulated time leaves the clock's range of 0 to 9,200 s");
    }
    return {start.femtoseconds + ticks};
}

}  // namespace weft
