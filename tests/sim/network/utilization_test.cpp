#include "sim/network/traffic_recorder.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/sim/network/toy.hpp"

namespace weft {
namespace {

using toy::path;

Instant at(double seconds) { return Instant{} + Seconds{seconds}; }

// Integral of a class over time: link-seconds per link.
double busy_seconds(const std::vector<UtilizationSample>& samples, LinkClassId link_class) {
    double sum = 0.0;
    for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
        if (samples[i].link_class != link_class || samples[i + 1].link_class != link_class) continue;
        sum += static_cast<double>(samples[i].mean) * (samples[i + 1].at - samples[i].at).value;
    }
    return sum;
}

TEST(utilization, a_full_link_is_at_one_and_then_at_zero) {
    UtilizationRecorder recorder(toy::fabric({10}), toy::table({path({0})}));
    recorder.add(PatternId{0}, {}, at(1e-6), {1e-5});
    const auto samples = recorder.samples(at(2e-6));
    EXPECT_NEAR(samples.front().mean, 1.0F, 1e-6F);
    EXPECT_EQ(samples.front().at, Instant{});
    EXPECT_EQ(samples.back().mean, 0.0F);
    EXPECT_NEAR(busy_seconds(samples, LinkClassId{0}), 1e-6, 1e-12);
}

TEST(utilization, a_class_is_averaged_over_its_links_and_counts_loads) {
    // Two links of one class; 3 bytes with load 2 on one of them, in 1 s at 12 B/s: 6 / 12 on one, 0 on the other.
    const Pattern pattern{{{LinkId{0}, 2.0}}};
    UtilizationRecorder recorder(toy::fabric({12, 12}), toy::table({pattern}));
    recorder.add(PatternId{0}, {}, at(1), {3});
    EXPECT_NEAR(recorder.samples(at(1)).front().mean, 0.25F, 1e-6F);
}

TEST(utilization, classes_without_traffic_are_left_out) {
    UtilizationRecorder recorder(toy::fabric({10, 20}), toy::table({path({1})}));
    recorder.add(PatternId{0}, {}, at(1), {5});
    for (const UtilizationSample& sample : recorder.samples(at(1))) EXPECT_EQ(sample.link_class, LinkClassId{1});
}

TEST(utilization, an_instantaneous_transfer_is_not_lost) {
    UtilizationRecorder recorder(toy::fabric({10}), toy::table({path({0})}));
    recorder.add(PatternId{0}, at(1e-6), at(1e-6), {20});
    EXPECT_NEAR(busy_seconds(recorder.samples(at(1)), LinkClassId{0}), 2.0, 1e-6);
}

RC_GTEST_PROP(utilization, any_run_fits_the_buckets_and_keeps_every_byte, ()) {
    const auto patterns = toy::table({path({0}), path({0, 1}), path({2})});
    UtilizationRecorder recorder(toy::fabric({10, 10, 30}), patterns);
    double first = 0.0, second = 0.0;  // link-seconds per link of the two classes
    Instant end{1};
    const auto pieces = *rc::gen::inRange(1, 40);
    for (int i = 0; i < pieces; ++i) {
        const Instant begin = end;
        end = begin + Seconds{std::pow(10.0, *rc::gen::inRange(-14, 1))};
        const auto p = *rc::gen::inRange<std::uint32_t>(0, 3);
        const Bytes bytes = BytesPerSecond{7.0} * (end - begin);
        recorder.add(PatternId{p}, begin, end, bytes);
        if (p < 2) first += bytes.value / 10.0 * (p + 1) / 2.0;
        if (p == 2) second += bytes.value / 30.0;
    }
    const auto samples = recorder.samples(end);
    RC_ASSERT(samples.size() <= 2 * (UtilizationRecorder::buckets + 1));
    RC_ASSERT(std::abs(busy_seconds(samples, LinkClassId{0}) - first) <= 1e-5 * first);
    RC_ASSERT(std::abs(busy_seconds(samples, LinkClassId{1}) - second) <= 1e-5 * second);
    for (const UtilizationSample& sample : samples) RC_ASSERT(sample.mean <= 1.0F);
}

}  // namespace
}  // namespace weft
