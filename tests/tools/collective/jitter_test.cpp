// Jitter against its distribution, and against a twin that draws every message.
#include "tools/collective/collective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace weft {
namespace {

// By the midpoint rule over probabilities.
TEST(jitter_of_messages, has_mean_one_and_the_deviation_that_is_stated) {
    constexpr int points = 200'000;
    for (const double deviation : {0.01, 0.1, 0.5, 1.0}) {
        double sum = 0.0, squares = 0.0;
        for (int i = 0; i < points; ++i) {
            const double factor = slowest_factor(deviation, 1.0, (i + 0.5) / points);
            sum += factor;
            squares += factor * factor;
        }
        const double mean = sum / points;
        EXPECT_NEAR(mean, 1.0, 1e-3) << deviation;
        EXPECT_NEAR(std::sqrt(squares / points - mean * mean) / deviation, 1.0, 0.01) << deviation;
    }
}

TEST(jitter_of_messages, is_slowest_with_the_chance_that_all_are_faster) {
    for (const double messages : {1.0, 2.0, 100.0, 1e7}) {
        for (const double p : {1e-6, 0.1, 0.5, 0.9, 0.999999}) {
            const double variance = std::log1p(0.04);
            const double normal = (std::log(slowest_factor(0.2, messages, p)) + variance / 2.0) / std::sqrt(variance);
            const double above = 0.5 * std::erfc(normal / std::sqrt(2.0));  // of one message
            EXPECT_NEAR(std::exp(messages * std::log1p(-above)), p, 1e-9) << messages;
        }
    }
}

TEST(jitter_of_messages, spreads_times_as_drawing_each_message_does) {
    constexpr std::size_t samples = 4000, rounds = 5, messages = 20;
    const double deviation = 0.3, variance = std::log1p(deviation * deviation);
    std::mt19937_64 random(1);
    std::lognormal_distribution<double> factor(-variance / 2.0, std::sqrt(variance));
    std::vector<double> times(samples, 1.0);
    for (double& time : times) {
        for (std::size_t round = 0; round < rounds; ++round) {
            double slowest = 0.0;
            for (std::size_t i = 0; i < messages; ++i) slowest = std::max(slowest, factor(random));
            time += 2.0 * slowest;
        }
    }
    std::ranges::sort(times);
    const JitteredRounds all{.each = {2.0}, .rounds = rounds, .messages = messages};
    const TimeQuantiles drawn = sampled_times({1.0}, {&all, 1}, {.deviation = deviation, .samples = samples});
    EXPECT_NEAR(drawn.p50.value / times[samples / 2], 1.0, 0.01);
    EXPECT_NEAR(drawn.p95.value / times[samples * 95 / 100], 1.0, 0.01);
    EXPECT_NEAR(drawn.p99.value / times[samples * 99 / 100], 1.0, 0.02);
}

}  // namespace
}  // namespace weft
