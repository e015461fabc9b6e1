#include "tools/collective/jitter.hpp"

#include <algorithm>
#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "sim/base/hash.hpp"
#include "tools/parallel.hpp"

namespace weft {
namespace {

// In long double, as by default, functions are set up at start-up to digits that not all have: under valgrind that
// threw.
using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

// Between 0 and 1, neither of them.
double uniform(std::uint64_t seed, std::uint64_t sample, std::uint64_t round) {
    return (static_cast<double>(hash_of({seed, sample, round}) >> 11U) + 0.5) * 0x1p-53;
}

}  // namespace

// All of m factors are below x with probability F(x)^m = p. The chance 1 - p^(1/m) of one above it is what the normal
// distribution is asked for, so that it loses no digits where m is large.
double slowest_factor(double deviation, double messages, double p) {
    const double above = -std::expm1(std::log(p) / messages);
    const double normal = std::sqrt(2.0) * boost::math::erfc_inv(2.0 * above, InDouble{});
    const double variance = std::log1p(deviation * deviation);
    return std::exp(std::sqrt(variance) * normal - variance / 2.0);
}

Seconds sampled_time(Seconds fixed, std::span<const JitteredRounds> all, const JitterTerms& terms, std::size_t sample) {
    Seconds sum = fixed;
    std::uint64_t drawn = 0;
    for (const JitteredRounds& rounds : all) {
        double factors = 0.0;
        for (std::uint64_t round = 0; round < rounds.rounds; ++round) {
            factors += slowest_factor(terms.deviation, rounds.messages, uniform(terms.seed, sample, drawn++));
        }
        sum += rounds.each * factors;
    }
    return sum;
}

TimeQuantiles quantiles(std::vector<Seconds> times) {
    std::ranges::sort(times);
    const auto quantile = [&](double share) {
        return times[static_cast<std::size_t>(std::ceil(share * static_cast<double>(times.size()))) - 1];
    };
    return {quantile(0.50), quantile(0.95), quantile(0.99)};
}

TimeQuantiles sampled_times(Seconds fixed, std::span<const JitteredRounds> rounds, const JitterTerms& terms) {
    std::vector<Seconds> times(terms.samples);
    for_each_in_parallel(
        times.size(), terms.jobs, [&](std::size_t i) { times[i] = sampled_time(fixed, rounds, terms, i); },
        [](std::size_t, std::size_t) {});
    return quantiles(std::move(times));
}

}  // namespace weft
