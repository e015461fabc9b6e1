#include "sim/network/max_min.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>

namespace weft {
namespace {

TEST(packed_parts, hold_eight_counters_that_do_not_touch_one_another) {
    PackedParts parts;
    for (std::size_t i = 0; i < PackedParts::size; ++i) parts.set(i, static_cast<std::uint32_t>(i * 1000));
    PackedParts sum = parts;
    sum += parts;
    for (std::size_t i = 0; i < PackedParts::size; ++i) EXPECT_EQ(sum[i], 2000 * i);
    sum -= parts;
    for (std::size_t i = 0; i < PackedParts::size; ++i) EXPECT_EQ(sum[i], 1000 * i);
}

TEST(packed_parts, a_counter_at_the_limit_is_not_above_it) {
    for (std::size_t i = 0; i < PackedParts::size; ++i) {
        PackedParts parts;
        parts.set(i, PackedParts::most);
        EXPECT_FALSE(parts.any_above(PackedParts::most)) << i;
        EXPECT_TRUE(parts.any_above(PackedParts::most - 1)) << i;
        EXPECT_TRUE(parts.any_above(0)) << i;
    }
    EXPECT_FALSE(PackedParts().any_above(0));
}

RC_GTEST_PROP(packed_parts, agree_with_eight_numbers, ()) {
    const auto small = rc::gen::inRange<std::uint32_t>(0, PackedParts::most / 2);
    const auto a = *rc::gen::container<std::array<std::uint32_t, PackedParts::size>>(small);
    const auto b = *rc::gen::container<std::array<std::uint32_t, PackedParts::size>>(small);
    PackedParts parts, other;
    std::array<std::uint32_t, PackedParts::size> expected{};
    for (std::size_t i = 0; i < PackedParts::size; ++i) {
        parts.set(i, a[i]);
        other.set(i, b[i]);
        expected[i] = a[i] + b[i];
    }
    parts += other;
    for (std::size_t i = 0; i < PackedParts::size; ++i) RC_ASSERT(parts[i] == expected[i]);
    const auto limit = *rc::gen::inRange<std::uint32_t>(0, PackedParts::most + 1);
    RC_ASSERT(parts.any_above(limit) == (*std::max_element(expected.begin(), expected.end()) > limit));
    parts -= other;
    for (std::size_t i = 0; i < PackedParts::size; ++i) RC_ASSERT(parts[i] == a[i]);
}

}  // namespace
}  // namespace weft
