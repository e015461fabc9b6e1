#include "tools/output/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/check.hpp"

namespace weft {
namespace {

using ::testing::ElementsAre;

ChartAxis axis(std::string unit, AxisScale scale = AxisScale::linear) {
    return {.title = "", .unit = std::move(unit), .scale = scale};
}

std::vector<std::string> labels(const ChartAxis& a, double least, double most) {
    std::vector<std::string> out;
    const AxisMap map(a, least, most);
    for (const ChartTick& tick : map.ticks()) out.push_back(tick.label);
    return out;
}

TEST(chart_axis, linear_ticks_are_round_and_cover_the_range_from_zero) {
    EXPECT_THAT(labels(axis("B"), 1e9, 3.45e9), ElementsAre("0", "1 GB", "2 GB", "3 GB", "4 GB"));
    EXPECT_THAT(labels(axis("%"), 0, 100), ElementsAre("0", "20 %", "40 %", "60 %", "80 %", "100 %"));
    EXPECT_THAT(labels(axis("s"), 0, 0.0123), ElementsAre("0", "5 ms", "10 ms", "15 ms"));
    EXPECT_THAT(labels(axis(""), 0, 0), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
    EXPECT_THAT(labels(axis("B/s"), 0, 6e10),
                ElementsAre("0", "10 GB/s", "20 GB/s", "30 GB/s", "40 GB/s", "50 GB/s", "60 GB/s"));
}

TEST(chart_axis, logarithmic_ticks_are_powers_of_the_base) {
    EXPECT_THAT(labels(axis("", AxisScale::log2), 512, 4096), ElementsAre("512", "1024", "2048", "4096"));
    EXPECT_THAT(labels(axis("B", AxisScale::log2), 1000, 5000),
                ElementsAre("512 B", "1 KiB", "2 KiB", "4 KiB", "8 KiB"));
    EXPECT_THAT(labels(axis("B", AxisScale::log10), 3e4, 2e6), ElementsAre("10 kB", "100 kB", "1 MB", "10 MB"));
    EXPECT_THAT(labels(axis("s", AxisScale::log10), 1e-6, 1e-4), ElementsAre("1 us", "10 us", "100 us"));
    EXPECT_THAT(labels(axis("", AxisScale::log10), 7, 7), ElementsAre("1", "10"));
    EXPECT_LE(labels(axis("", AxisScale::log2), 1, 0x1p40).size(), 11u);
}

TEST(chart_axis, places_are_proportional) {
    const AxisMap linear(axis(""), 0, 10);
    EXPECT_DOUBLE_EQ(linear.place(0), 0);
    EXPECT_DOUBLE_EQ(linear.place(2.5), 0.25);
    EXPECT_DOUBLE_EQ(linear.place(10), 1);
    const AxisMap logarithmic(axis("", AxisScale::log2), 512, 4096);
    EXPECT_DOUBLE_EQ(logarithmic.place(512), 0);
    EXPECT_NEAR(logarithmic.place(1024), 1.0 / 3, 1e-12);
    EXPECT_NEAR(logarithmic.place(4096), 1, 1e-12);
}

TEST(chart_axis, refuses_what_it_cannot_place) {
    EXPECT_THROW(AxisMap(axis("", AxisScale::log10), 0, 1), LogicError);
    EXPECT_THROW(AxisMap(axis(""), -1, 1), LogicError);
    EXPECT_THROW(AxisMap(axis(""), 2, 1), LogicError);
}

TEST(chart_axis, values_have_three_digits_and_a_unit) {
    EXPECT_EQ(axis_value(axis("B"), 45885557760.0), "45.9 GB");
    EXPECT_EQ(axis_value(axis("B", AxisScale::log2), 65536), "64 KiB");
    EXPECT_EQ(axis_value(axis("%"), 12.51), "12.5 %");
    EXPECT_EQ(axis_value(axis("s"), 13), "13 s");
    EXPECT_EQ(axis_value(axis(""), 65536), "65536");
}

}  // namespace
}  // namespace weft
