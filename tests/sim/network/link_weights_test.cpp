#include "sim/network/link_weights.hpp"

#include <gtest/gtest.h>

#include "sim/base/check.hpp"

namespace weft {
namespace {

TEST(link_weights, without_ranges_every_link_stands_for_itself) {
    EXPECT_EQ(LinkWeights().of(LinkId{0}), 1.0);
    EXPECT_EQ(LinkWeights().of(LinkId{1'000'000}), 1.0);
}

TEST(link_weights, a_range_ends_before_its_end) {
    const LinkWeights weights({{LinkId{2}, LinkId{4}, 3.0}, {LinkId{4}, LinkId{5}, 0.5}, {LinkId{8}, LinkId{9}, 7.0}});
    const double expected[] = {1, 1, 3, 3, 0.5, 1, 1, 1, 7, 1};
    for (std::uint32_t link = 0; link < 10; ++link) EXPECT_EQ(weights.of(LinkId{link}), expected[link]) << link;
}

TEST(link_weights, ranges_that_cross_or_weigh_nothing_are_refused) {
    EXPECT_THROW(LinkWeights({{LinkId{2}, LinkId{4}, 3.0}, {LinkId{3}, LinkId{5}, 2.0}}), LogicError);
    EXPECT_THROW(LinkWeights({{LinkId{4}, LinkId{5}, 3.0}, {LinkId{2}, LinkId{3}, 2.0}}), LogicError);
    EXPECT_THROW(LinkWeights({{LinkId{2}, LinkId{2}, 3.0}}), LogicError);
    EXPECT_THROW(LinkWeights({{LinkId{2}, LinkId{3}, 0.0}}), LogicError);
}

}  // namespace
}  // namespace weft
