#include "workloads/layout/rank_grid.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

namespace weft {
namespace {

// The slow way: nested loops over all coordinates, innermost axis fastest.
std::vector<std::map<std::string, std::uint32_t>> coordinates(const std::vector<Axis>& axes) {
    std::vector<std::map<std::string, std::uint32_t>> all{{}};
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        std::vector<std::map<std::string, std::uint32_t>> next;
        for (const auto& outer : all) {
            for (std::uint32_t i = 0; i < axis->size; ++i) {
                auto here = outer;
                here[axis->name] = i;
                next.push_back(std::move(here));
            }
        }
        all = std::move(next);
    }
    return all;
}

TEST(rank_grid, a_group_is_an_arithmetic_progression) {
    const RankGrid grid({{"tensor", 2}, {"data", 3}, {"pipeline", 4}});
    EXPECT_EQ(grid.ranks(), 24U);
    EXPECT_EQ(grid.group(RankId{21}, "data"), (std::vector{RankId{19}, RankId{21}, RankId{23}}));
    EXPECT_EQ(grid.group(RankId{21}, "tensor"), (std::vector{RankId{20}, RankId{21}}));
    EXPECT_EQ(grid.group(RankId{21}, "pipeline"), (std::vector{RankId{3}, RankId{9}, RankId{15}, RankId{21}}));
}

TEST(rank_grid, a_slice_holds_the_ranks_of_one_coordinate_in_order) {
    const RankGrid grid({{"pipeline", 2}, {"tensor", 3}});
    EXPECT_EQ(grid.slice("pipeline", 1), (std::vector{RankId{1}, RankId{3}, RankId{5}}));
    EXPECT_EQ(grid.slice("tensor", 2), (std::vector{RankId{4}, RankId{5}}));
}

TEST(rank_grid, a_group_over_two_axes_is_their_product) {
    const RankGrid grid({{"tensor", 2}, {"data", 2}, {"pipeline", 2}});
    EXPECT_EQ(grid.group(RankId{3}, std::vector<std::string>{"tensor", "pipeline"}),
              (std::vector{RankId{2}, RankId{3}, RankId{6}, RankId{7}}));
}

RC_GTEST_PROP(rank_grid, agrees_with_nested_loops_for_any_sizes_and_order, ()) {
    std::vector<Axis> axes{{"tensor", *rc::gen::inRange(1U, 6U)},
                           {"data", *rc::gen::inRange(1U, 6U)},
                           {"pipeline", *rc::gen::inRange(1U, 6U)}};
    std::rotate(axes.begin(), axes.begin() + *rc::gen::inRange(0, 3), axes.end());
    const RankGrid grid(axes);
    const auto expected = coordinates(axes);
    RC_ASSERT(grid.ranks() == expected.size());
    for (std::uint32_t rank = 0; rank < grid.ranks(); ++rank) {
        for (const Axis& axis : axes) {
            RC_ASSERT(grid.coordinate(RankId{rank}, axis.name) == expected[rank].at(axis.name));
            std::vector<RankId> group;
            for (std::uint32_t other = 0; other < grid.ranks(); ++other) {
                auto same = expected[other];
                same[axis.name] = expected[rank].at(axis.name);
                if (same == expected[rank]) group.push_back(RankId{other});
            }
            RC_ASSERT(grid.group(RankId{rank}, axis.name) == group);
        }
    }
}

}  // namespace
}  // namespace weft
