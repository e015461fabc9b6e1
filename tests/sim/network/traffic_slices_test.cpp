#include "sim/network/traffic_recorder.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

TEST(traffic_slices, share_a_flow_by_its_time_in_each) {
    TrafficSlices slices(2, {1000}, 4);
    slices.add(PatternId{1}, {200}, {800}, {60});
    slices.add(PatternId{0}, {500}, {500}, {7});    // in no time: where it is
    slices.add(PatternId{0}, {1000}, {1000}, {3});  // at the end: in the last
    const auto moved = std::move(slices).take();
    ASSERT_EQ(moved.size(), 4U);
    const std::vector<double> expected{5, 25, 25, 5};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(moved[i][PatternId{1}].value, expected[i]) << i;
    EXPECT_EQ(moved[2][PatternId{0}], Bytes{7});
    EXPECT_EQ(moved[3][PatternId{0}], Bytes{3});
}

// Against the overlap of each stretch with each slice; lengths that the slices do not divide.
RC_GTEST_PROP(traffic_slices, keep_every_byte_where_it_was_carried, ()) {
    const auto end = *rc::gen::inRange<std::int64_t>(1, 2000);
    const auto count = *rc::gen::inRange<std::uint32_t>(1, 40);
    TrafficSlices slices(1, {end}, count);
    std::vector<double> expected(count, 0.0);
    double sum = 0.0;
    for (int i = 0; i < 20; ++i) {
        const auto a = *rc::gen::inRange<std::int64_t>(0, end + 1), b = *rc::gen::inRange<std::int64_t>(0, end + 1);
        const auto [from, to] = std::minmax(a, b);
        if (from == to) continue;
        slices.add(PatternId{0}, {from}, {to}, {10});
        sum += 10;
        for (std::uint32_t s = 0; s < count; ++s) {
            const std::int64_t begin = slices.begin_of(s).femtoseconds, over = slices.begin_of(s + 1).femtoseconds;
            const std::int64_t shared = std::min(to, over) - std::max(from, begin);
            if (shared > 0) expected[s] += 10.0 * static_cast<double>(shared) / static_cast<double>(to - from);
        }
    }
    RC_ASSERT(slices.begin_of(count).femtoseconds == end);
    double found = 0.0;
    const auto moved = std::move(slices).take();
    for (std::uint32_t s = 0; s < count; ++s) {
        RC_ASSERT(std::abs(moved[s][PatternId{0}].value - expected[s]) <= 1e-9 * (1.0 + expected[s]));
        found += moved[s][PatternId{0}].value;
    }
    RC_ASSERT(std::abs(found - sum) <= 1e-9 * sum);
}

}  // namespace
}  // namespace weft
