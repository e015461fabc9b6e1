#include "sim/cost/busiest_links.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace weft {
namespace {

double height(const std::vector<Line>& lines, double q) {
    double most = 0.0;
    for (const Line& line : lines) most = std::max(most, line.at(q));
    return most;
}

TEST(lowest_point, is_where_a_falling_and_a_rising_line_cross) {
    EXPECT_DOUBLE_EQ(lowest_point(std::vector<Line>{{4, -4}, {1, 2}}), 0.5);
}

TEST(lowest_point, stays_at_zero_where_nothing_is_gained) {
    EXPECT_EQ(lowest_point(std::vector<Line>{{1, 0.5}, {0.5, -0.5}}), 0.0);
    EXPECT_EQ(lowest_point(std::vector<Line>{{1, 0}, {0.5, -0.5}}), 0.0);
    EXPECT_EQ(lowest_point(std::vector<Line>{{1, -1e-7}}), 0.0);
}

TEST(lowest_point, goes_no_further_than_a_level_line_asks) {
    EXPECT_DOUBLE_EQ(lowest_point(std::vector<Line>{{4, -4}, {3, 0}}), 0.25);
    EXPECT_DOUBLE_EQ(lowest_point(std::vector<Line>{{4, -4}}), 1.0);
    EXPECT_NEAR(lowest_point(std::vector<Line>{{4, -4}, {3, -1e-12}}), 0.25, 1e-12);  // level but for rounding
}

TEST(lowest_point, of_random_lines_none_is_lower) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    for (int i = 0; i < 2000; ++i) {
        std::vector<Line> lines(1 + random() % 30);
        for (Line& line : lines) {
            line.at_zero = uniform(random);
            line.slope = uniform(random) - line.at_zero;  // between 0 and 1 at both ends
        }
        const double q = lowest_point(lines), least = height(lines, q);
        ASSERT_TRUE(q >= 0.0 && q <= 1.0);
        for (int k = 0; k <= 500; ++k) ASSERT_LE(least, height(lines, k / 500.0) * (1.0 + 2e-6));
        if (q > 1e-3) {
            ASSERT_GT(height(lines, q - 1e-3), least);  // the smallest such q
        }
    }
}

}  // namespace
}  // namespace weft
