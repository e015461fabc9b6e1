#include "sim/base/palette.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {
namespace {

using Signature = std::vector<std::uint64_t>;

TEST(palette, numbers_signatures_in_order_of_first_arrival) {
    Palette palette;
    EXPECT_EQ(palette.colour_of(Signature{7, 1}), 0u);
    EXPECT_EQ(palette.colour_of(Signature{}), 1u);
    EXPECT_EQ(palette.colour_of(Signature{7}), 2u);
    EXPECT_EQ(palette.colour_of(Signature{7, 1}), 0u);
    EXPECT_EQ(palette.colour_of(Signature{1, 7}), 3u);
    EXPECT_EQ(palette.colours(), 4u);
}

// Twin: a list that is searched from its start.
RC_GTEST_PROP(palette, tells_apart_what_differs_and_nothing_else, ()) {
    const auto signatures = *rc::gen::container<std::vector<Signature>>(
        rc::gen::container<Signature>(rc::gen::inRange<std::uint64_t>(0, 3)));
    Palette palette(1);
    std::vector<Signature> seen;
    for (const Signature& signature : signatures) {
        auto at = std::ranges::find(seen, signature);
        if (at == seen.end()) at = seen.insert(seen.end(), signature);
        RC_ASSERT(palette.colour_of(signature) == static_cast<std::uint32_t>(at - seen.begin()));
    }
}

// So many that their slots meet, and more are made for them again and again.
TEST(palette, knows_again_what_came_before_it_grew) {
    constexpr std::uint64_t many = 5000;
    Palette palette(1);
    for (std::uint64_t i = 0; i < many; ++i) ASSERT_EQ(palette.colour_of(Signature{i, i % 7}), i);
    for (std::uint64_t i = 0; i < many; ++i) ASSERT_EQ(palette.colour_of(Signature{i, i % 7}), i);
    EXPECT_EQ(palette.colours(), many);
}

}  // namespace
}  // namespace weft
