// A run of very many steps under failures, from its first step to its last: what a cluster's wall clock shows. Steps
// are no events here: from one checkpoint to the next all is arithmetic.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/quantity.hpp"

namespace weft {

inline constexpr Seconds endless{std::numeric_limits<double>::infinity()};

// Consecutive steps of one length, with a checkpoint after each `between` of them.
struct Stretch {
    std::uint64_t steps = 0;
    Seconds step;
    std::uint64_t between = std::numeric_limits<std::uint64_t>::max();
};

// Failures come at random and without memory (exponentially); `endless` is a mean time, too.
struct LongRun {
    std::vector<Stretch> stretches;
    Seconds horizon = endless;  // the run is over then, finished or not

    Seconds stall{};  // that the steps lose to a checkpoint
    Seconds write{};  // from its begin until it can be loaded: no less than the stall. One is written at a time

    Seconds hardware = endless;  // mean times between failures of the run: those that take a node,
    Seconds software = endless;  // those that leave it,
    Seconds planned = endless;   // and stops that were announced: a checkpoint is written first
    Seconds detection{};         // of a failure
    Seconds stop{};              // of a planned stop, before the launch
    Seconds launch{};            // until the run is where it loads a checkpoint
    Seconds load{};
    std::uint32_t spares = 0;  // nodes that stand by; without one the run waits for the first that comes back
    Seconds repair{};          // of a node, after which it stands by
};

// wall = worked + stalled + down + waiting; lost = worked - productive.
struct RunSample {
    Seconds wall;
    Seconds worked;      // in steps, whether they counted in the end or not
    Seconds productive;  // in steps that counted
    Seconds stalled;     // by checkpoints
    Seconds down;        // detecting, stopped, launching, loading
    Seconds waiting;     // for a node to come back
    std::uint64_t steps = 0;
    std::uint32_t hardware = 0, software = 0, planned = 0;

    Seconds lost() const { return worked - productive; }
    double goodput() const { return wall > Seconds{} ? productive / wall : 1.0; }
    std::uint32_t interruptions() const { return hardware + software + planned; }
};

// Run number `number` of those that `seed` stands for: the same values on any machine, in any order. Failures strike
// restarts as well as steps; while a run waits for a node, nothing does.
RunSample sample_run(const LongRun& run, std::uint64_t seed, std::uint64_t number);

// About how many pieces sample_run() plays: interruptions, and checkpoints that wait for one another. What lies between
// interruptions is a formula. The run has a step.
double pieces_of(const LongRun& run);

// J. W. Young, Communications of the ACM 17 (1974): the interval between checkpoints that loses least, to first order.
Seconds young_interval(Seconds write, Seconds between_failures);
// J. T. Daly, Future Generation Computer Systems 22 (2006), equation 37: to higher order.
Seconds daly_interval(Seconds write, Seconds between_failures);
// The same, equation 20: expected time of `work` where each `interval` of it is followed by a checkpoint, and failures,
// which strike restarts, too, cost a restart each: M exp(R/M) (exp((interval + write)/M) - 1) work / interval.
Seconds daly_run_time(Seconds work, Seconds interval, Seconds write, Seconds restart, Seconds between_failures);

}  // namespace weft
