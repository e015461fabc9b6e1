#include "sim/base/quantity.hpp"

#include <gtest/gtest.h>

#include <concepts>

namespace weft {
namespace {

template <class A, class B>
concept addable = requires(A a, B b) {
    a + b;
};
template <class A, class B>
concept multipliable = requires(A a, B b) {
    a* b;
};
template <class A, class B>
concept comparable = requires(A a, B b) {
    a < b;
};

// A formula that mixes quantities wrongly does not compile.
static_assert(addable<Bytes, Bytes> && !addable<Bytes, Seconds> && !addable<Bytes, double>);
static_assert(multipliable<BytesPerSecond, Seconds> && !multipliable<Bytes, Bytes> && !multipliable<Bytes, Seconds>);
static_assert(comparable<Seconds, Seconds> && !comparable<Seconds, Bytes> && !comparable<Seconds, double>);
static_assert(!std::convertible_to<double, Seconds> && !std::convertible_to<Seconds, double>);
static_assert(std::same_as<decltype(Bytes{} / Seconds{}), BytesPerSecond>);
static_assert(std::same_as<decltype(Bytes{} / BytesPerSecond{}), Seconds>);
static_assert(std::same_as<decltype(Flops{} / FlopsPerSecond{}), Seconds>);
static_assert(std::same_as<decltype(Bytes{} / Bytes{}), double>);

TEST(quantity, literals_are_in_base_units) {
    EXPECT_EQ((2_us).value, 2e-6);
    EXPECT_EQ((350_ns).value, 350e-9);
    EXPECT_EQ((3_KiB).value, 3072.0);
    EXPECT_EQ((1_GiB).value, 1073741824.0);
    EXPECT_EQ((1_GB).value, 1e9);
    EXPECT_EQ(200_Gbps, 25_GBps);
    EXPECT_EQ((191.5_TFLOPps).value, 191.5e12);
}

TEST(quantity, amounts_rates_and_times_convert_into_each_other) {
    EXPECT_EQ(50_GB / 25_GBps, 2_s);
    EXPECT_EQ(50_GB / 2_s, 25_GBps);
    EXPECT_EQ(25_GBps * 2_s, 50_GB);
    EXPECT_EQ(2_s * 25_GBps, 50_GB);
    EXPECT_EQ(Flops{4e12} / 2_TFLOPps, 2_s);
    EXPECT_EQ(6_GB / 2_GB, 3.0);
}

TEST(quantity, arithmetic_is_that_of_the_numbers) {
    Seconds time = 3_s;
    time += 2_s;
    time -= 1_s;
    time *= 2.0;
    EXPECT_EQ(time, 8_s);
    EXPECT_EQ(-time, 0_s - 8_s);
    EXPECT_EQ(0.5 * time / 2.0, 2_s);
    EXPECT_LT(1_us, 1_s);
}

}  // namespace
}  // namespace weft
