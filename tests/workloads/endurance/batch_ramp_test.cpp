#include "workloads/endurance/run_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using ::testing::HasSubstr;

// Megatron changes the size at the first step that begins with a share of the samples or more consumed.
TEST(batch_ramp, each_size_has_its_share_of_the_samples) {
    const std::vector<BatchStretch> ramp = stretches({.start = 16, .increment = 8, .samples = 1000}, 32);
    ASSERT_EQ(ramp.size(), 2U);
    EXPECT_EQ(ramp[0].batch, 16U);
    EXPECT_EQ(ramp[0].steps, 32U);  // 512 samples, the first 500 or more
    EXPECT_EQ(ramp[1].batch, 24U);
    EXPECT_EQ(ramp[1].steps, 21U);  // 1016, the first 1000 or more
}

TEST(batch_ramp, says_why_it_leads_nowhere) {
    EXPECT_EQ(obstacle({16, 8, 1000}, 32, 8), "");
    EXPECT_THAT(obstacle({16, 7, 1000}, 32, 1), HasSubstr("increments of 7 do not lead from 16"));
    EXPECT_THAT(obstacle({32, 8, 1000}, 32, 1), HasSubstr("it starts at 32"));
    EXPECT_THAT(obstacle({16, 8, 1000}, 32, 16), HasSubstr("multiples of 16"));
    EXPECT_THAT(obstacle({16, 0, 1000}, 32, 1), HasSubstr("at least 1"));
}

}  // namespace
}  // namespace weft
