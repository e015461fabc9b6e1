// Orders and comparisons of a search, against slow twins and numbers worked out by hand.
#include "workloads/search/plan_result.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace weft {
namespace {

// Quadratic: nobody is as good in both and better in one, and of equals the first.
std::set<std::size_t> naive_front(const std::vector<TimeAndMemory>& points) {
    std::set<std::size_t> front;
    for (std::size_t i = 0; i < points.size(); ++i) {
        bool beaten = false;
        for (std::size_t j = 0; j < points.size(); ++j) {
            const bool as_good = points[j].time <= points[i].time && points[j].memory <= points[i].memory;
            const bool equal = points[j].time == points[i].time && points[j].memory == points[i].memory;
            beaten = beaten || (as_good && (!equal || j < i));
        }
        if (!beaten) front.insert(i);
    }
    return front;
}

RC_GTEST_PROP(pareto_front, is_what_nobody_beats, (const std::vector<std::pair<std::uint8_t, std::uint8_t>>& pairs)) {
    std::vector<TimeAndMemory> points;
    for (const auto& [time, memory] : pairs) points.push_back({Seconds{double(time % 16)}, Bytes{double(memory % 16)}});
    const std::vector<std::size_t> front = pareto_front(points);
    RC_ASSERT(std::set(front.begin(), front.end()) == naive_front(points));
    RC_ASSERT(std::ranges::is_sorted(front, {}, [&](std::size_t i) { return points[i].time; }));
}

TEST(rank_correlation, is_one_for_the_same_order_and_minus_one_for_the_opposite) {
    const std::vector<double> a{1, 5, 2, 9}, same{10, 30, 20, 40}, opposite{4, 2, 3, 1};
    EXPECT_DOUBLE_EQ(rank_correlation(a, same), 1);
    EXPECT_DOUBLE_EQ(rank_correlation(a, opposite), -1);
    EXPECT_DOUBLE_EQ(rank_correlation({}, {}), 1);
}

// Ranks 0 1.5 1.5 3 and 1 0 2 3 about their mean 1.5: (0.75 + 0 + 0 + 2.25) / sqrt(4.5 x 5).
TEST(rank_correlation, gives_equal_values_the_mean_rank) {
    const std::vector<double> a{1, 2, 2, 3}, b{20, 10, 30, 40};
    EXPECT_DOUBLE_EQ(rank_correlation(a, b), 3.0 / std::sqrt(4.5 * 5.0));
}

TEST(without_numbers, tells_reasons_apart_and_not_their_numbers) {
    EXPECT_EQ(without_numbers("96 heads on 64 ranks"), without_numbers("12 heads on 8 ranks"));
    EXPECT_EQ(without_numbers("about 3.1e+08 operations"), without_numbers("about 6e+07 operations"));
    EXPECT_NE(without_numbers("needs 1f1b"), without_numbers("needs gpipe"));
    EXPECT_NE(without_numbers("not ZeRO-2"), without_numbers("not ZeRO-3"));
    EXPECT_EQ(without_numbers("1f1b"), "1f1b");
}

TEST(differences, put_what_costs_most_first) {
    const StepParts slower{.compute = {3}, .optimizer = {1}, .exposed = {4}, .bubble = {1}, .imbalance = {0}};
    const StepParts faster{.compute = {2}, .optimizer = {1}, .exposed = {1}, .bubble = {2}, .imbalance = {0}};
    const std::vector<Difference> list = differences(slower, faster);
    ASSERT_EQ(list.size(), 5);
    EXPECT_EQ(list.front().part, "exposed communication");
    EXPECT_DOUBLE_EQ(list.front().more.value, 3);
    EXPECT_EQ(list[1].part, "compute");
    EXPECT_EQ(list.back().part, "pipeline bubble");
    EXPECT_DOUBLE_EQ(list.back().more.value, -1);
}

}  // namespace
}  // namespace weft
