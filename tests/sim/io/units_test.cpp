#include "sim/io/units.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

namespace weft {
namespace {

TEST(units, amounts_read_like_the_literals_of_the_program) {
    EXPECT_EQ(parse_bytes("64 GiB"), 64_GiB);
    EXPECT_EQ(parse_bytes("25MB"), Bytes{25e6});
    EXPECT_EQ(parse_bytes("1.5 KiB"), 1536_B);
    EXPECT_EQ(parse_bytes("0 B"), 0_B);
    EXPECT_EQ(parse_bandwidth("25 GB/s"), 25_GBps);
    EXPECT_EQ(parse_bandwidth("200 Gbit/s"), 25_GBps) << "eight bits are a byte";
    EXPECT_EQ(parse_bandwidth("1 GiB/s"), BytesPerSecond{1073741824.0});
    EXPECT_EQ(parse_duration("2.4 us"), 2.4_us);
    EXPECT_EQ(parse_duration("350 ns"), 350_ns);
    EXPECT_EQ(parse_duration("1e3 ms"), 1_s);
    EXPECT_EQ(parse_flop_rate("191.5 TFLOP/s"), 191.5_TFLOPps);
    EXPECT_EQ(parse_flop_rate("1.2 EFLOP/s"), FlopsPerSecond{1.2e18});
    EXPECT_EQ(parse_duration("2 d"), parse_duration("48 h"));
    EXPECT_EQ(parse_duration("90 min"), Seconds{5400.0});
    EXPECT_EQ(parse_power("2.8 kW"), Watts{2800.0});
    EXPECT_EQ(to_text(Watts{13.84e6}), "13.8 MW");
}

class no_amount : public ::testing::TestWithParam<const char*> {};

TEST_P(no_amount, is_refused_by_every_parser) {
    EXPECT_EQ(parse_bytes(GetParam()), std::nullopt);
    EXPECT_EQ(parse_bandwidth(GetParam()), std::nullopt);
    EXPECT_EQ(parse_duration(GetParam()), std::nullopt);
    EXPECT_EQ(parse_flop_rate(GetParam()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(units, no_amount,
                         ::testing::Values("", " ", "12", "GB/s", "GB", "-1 GB", "-1 us", "-0 B/s", "nan us",
                                           "inf GB/s", "1e999 GB", "1e308 TB", "1e300 EB/s", "1e31 B", "1e30 ks",
                                           "1e-31 s", "1e-30 us", "1e308 GB/s", "5e-324 FLOP/s", "+1 us", " 1 us",
                                           "1 us ", "1 GB /s", "1 Gb/s", "1 GBps", "1 gb", "1\tus", "0x10 B", "1,5 us",
                                           "1 TFLOPS", "1 FLOP"));

TEST(units, a_rate_is_no_amount_and_an_amount_no_rate) {
    EXPECT_EQ(parse_bytes("1 GB/s"), std::nullopt);
    EXPECT_EQ(parse_bandwidth("1 GB"), std::nullopt);
    EXPECT_EQ(parse_bytes("8 Gbit"), std::nullopt);
}

TEST(units, people_get_three_digits_and_a_fitting_unit) {
    EXPECT_EQ(to_text(512_B), "512 B");
    EXPECT_EQ(to_text(0_B), "0 B");
    EXPECT_EQ(to_text(1023_B), "1023 B");
    EXPECT_EQ(to_text(Bytes{12.9 * 1073741824.0}), "12.9 GiB");
    EXPECT_EQ(to_text(64_GiB), "64.0 GiB");
    EXPECT_EQ(to_text(1000_KiB), "1000 KiB");
    EXPECT_EQ(to_text(Bytes{1023.9 * 1024.0}), "1.00 MiB") << "rounding never shows 1024 of a unit";
    EXPECT_EQ(to_text(25_GBps), "25.0 GB/s");
    EXPECT_EQ(to_text(BytesPerSecond{999.9e6}), "1.00 GB/s");
    EXPECT_EQ(to_text(2.4_us), "2.40 us");
    EXPECT_EQ(to_text(13.1_s), "13.1 s");
    EXPECT_EQ(to_text(9.996_s), "10.0 s");
    EXPECT_EQ(to_text(-2.4_us), "-2.40 us");
    EXPECT_EQ(to_text(Seconds{}), "0 s");
    EXPECT_EQ(to_text(191.5_TFLOPps), "192 TFLOP/s");
}

TEST(units, what_is_shown_reads_back_within_its_three_digits) {
    EXPECT_TRUE(rc::check([] {
        const double exponent = *rc::gen::inRange(0, 1400) / 100.0;
        const BytesPerSecond rate{std::pow(10.0, exponent)};
        const auto back = parse_bandwidth(to_text(rate));
        RC_ASSERT(back.has_value());
        RC_ASSERT(std::abs(*back / rate - 1.0) <= 0.0051);
        const Seconds time{std::pow(10.0, exponent - 9.0)};
        const auto time_back = parse_duration(to_text(time));
        RC_ASSERT(time_back.has_value());
        RC_ASSERT(std::abs(*time_back / time - 1.0) <= 0.0051);
    }));
}

}  // namespace
}  // namespace weft
