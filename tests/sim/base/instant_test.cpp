#include "sim/base/instant.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

namespace weft {
namespace {

TEST(instant, durations_round_to_the_nearest_femtosecond) {
    EXPECT_EQ((Instant{} + 1_us).femtoseconds, 1'000'000'000);
    EXPECT_EQ((Instant{} + Seconds{1.4e-15}).femtoseconds, 1);
    EXPECT_EQ((Instant{} + Seconds{1.6e-15}).femtoseconds, 2);
    EXPECT_EQ((Instant{5} + Seconds{}).femtoseconds, 5);
}

TEST(instant, a_duration_comes_back_from_the_clock_to_a_billionth) {
    EXPECT_TRUE(rc::check([] {
        const Seconds duration{std::pow(10.0, *rc::gen::inRange(-6000, 3000) / 1000.0)};
        const Instant start{*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000)};
        const Seconds back = (start + duration) - start;
        RC_ASSERT(std::abs(back / duration - 1.0) <= 1e-9);
    }));
}

TEST(instant, later_is_greater_and_never_is_last) {
    const Instant start{7};
    EXPECT_LT(start, start + 1_ns);
    EXPECT_LT(start + Seconds{9'000.0}, Instant::never());
    EXPECT_EQ(since_start(Instant{} + 2_s), 2_s);
}

TEST(instant, what_the_clock_cannot_hold_is_refused_not_wrapped) {
    EXPECT_THROW(Instant{} + Seconds{9'300.0}, RangeError);
    EXPECT_THROW(Instant{} + Seconds{9'000.0} + Seconds{9'000.0}, RangeError);
    EXPECT_THROW(Instant{} + Seconds{-1e-9}, RangeError);
    EXPECT_THROW(Instant{} + Seconds{std::numeric_limits<double>::quiet_NaN()}, RangeError);
    EXPECT_THROW(Instant{} + Seconds{std::numeric_limits<double>::infinity()}, RangeError);
    EXPECT_THROW(Instant::never() + 1_ns, RangeError);
}

}  // namespace
}  // namespace weft
