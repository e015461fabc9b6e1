// How the time of a collective spreads where its messages take longer or shorter by chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/quantity.hpp"
#include "topologies/collective_set.hpp"

namespace weft {

// Of every message the time is its expected one times a factor of its own: log-normal, of mean 1 and this standard
// deviation. No machine file says one that was measured: whoever asks states it.
struct JitterTerms {
    double deviation = 0.0;
    std::uint32_t samples = 0;  // 0: none asked
    std::uint64_t seed = 0;
    unsigned jobs = 1;  // threads; the result is the same for any number
};

// Rounds in lock step: each lasts as long as the slowest of its messages.
struct JitteredRounds {
    Seconds each;  // without jitter
    std::uint64_t rounds = 1;
    double messages = 1.0;  // of a round
};

struct TimeQuantiles {
    Seconds p50, p95, p99;  // by nearest rank
};

// The slowest of so many factors, at probability `p` (above 0, below 1) of being less: one draw in place of all.
double slowest_factor(double deviation, double messages, double p);

TimeQuantiles quantiles(std::vector<Seconds> times);  // of one at least

// `fixed`: what does not vary, the launch and the host. One of the samples, and all of them: one at least.
Seconds sampled_time(Seconds fixed, std::span<const JitteredRounds> rounds, const JitterTerms& terms,
                     std::size_t sample);
TimeQuantiles sampled_times(Seconds fixed, std::span<const JitteredRounds> rounds, const JitterTerms& terms);

// What of a call varies with jitter.
struct JitteredCall {
    Seconds fixed;  // launches
    std::vector<JitteredRounds> rounds{};
};

// Together what CollectiveSet::time() gives: the time of a stretch falls equally on its rounds.
JitteredCall jittered_call(CollectiveSet& set, const Topology& topology, const Choice& choice, Bytes message);

}  // namespace weft
