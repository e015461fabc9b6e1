// How far a computation has come that runs slower beside communication: exact on the clock. Of an op that takes w ticks
// undisturbed, what is left after c ticks undisturbed and s beside communication is w - c - s / factor undisturbed, or
// factor (w - c) - s beside it; rounded once, from numbers that were never rounded before, however often communication
// comes and goes.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/base/instant.hpp"
#include "sim/engine/ticks.hpp"

namespace weft {

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
