#include "workloads/layout/layout.hpp"

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

TEST(rank_grid, a_slice_holds_the_ranks_of_one_coordinate_in_order) {
    const RankGrid grid({{"pipeline", 2}, {"tensor", 3}});
    EXPECT_EQ(grid.slice("pipeline", 1), (std::vector{RankId{1}, RankId{3}, RankId{5}}));
    EXPECT_EQ(grid.slice("tensor", 2), (std::vector{RankId{4}, RankId{5}}));
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
            const std::vector<RankId> slice = grid.slice(axis.name, expected[rank].at(axis.name));
            RC_ASSERT(std::ranges::count(slice, RankId{rank}) == 1);
            RC_ASSERT(slice.size() == grid.ranks() / axis.size);
        }
    }
}

}  // namespace
}  // namespace weft
