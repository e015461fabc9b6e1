// Systems small enough to see by eye what is alike.
#include "sim/symmetry/symmetry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/sim/collective/members.hpp"
#include "tests/sim/collective/toy_crossbar.hpp"

namespace weft {
namespace {

using testing::ElementsAre;
using testing_support::ranks;
using testing_support::toy_crossbar;

class symmetry : public testing::Test {
  protected:
    // Loads of 1 on the given links of a crossbar of 8 ranks, 10 GB/s each.
    PhaseCost stretch(const std::vector<std::uint32_t>& links, Seconds path = 1_us, double load = 1.0) {
        PhaseCost cost{.path = path};
        for (const std::uint32_t link : links) cost.pattern.loads.push_back({LinkId{link}, load});
        cost.pattern.alone = BytesPerSecond{10e9 / load};
        return cost;
    }
    Topology topology_ = toy_crossbar(8, 1, 10_GBps, 1_us);
};

TEST_F(symmetry, ranks_that_start_alike_and_meet_nobody_are_one_colour) {
    const auto colours = Symmetry(topology_, {5, 5, 3, 5}).refine();
    EXPECT_THAT(colours.of_rank, ElementsAre(0, 0, 1, 0));
    EXPECT_EQ(colours.by_links, 2u);
}

// Rank 0 is slow; it meets 1, and 1 meets 2: all their times may differ. Pairs 4-5 and 6-7 meet nobody who does.
TEST_F(symmetry, what_one_rank_is_reaches_all_whom_it_meets) {
    Symmetry system(topology_, {1, 0, 0, 0, 0, 0, 0, 0});
    for (const auto& [kind, members] : std::vector<std::pair<std::uint32_t, std::vector<RankId>>>{{0, ranks({0, 1})},
                                                                                                  {0, ranks({2, 3})},
                                                                                                  {0, ranks({4, 5})},
                                                                                                  {0, ranks({6, 7})},
                                                                                                  {1, ranks({1, 2})},
                                                                                                  {1, ranks({3, 4})},
                                                                                                  {1, ranks({5, 6})}}) {
        system.add_group(kind, members);
    }
    // The chain 0-1-2-3-4-5-6-7 has no two ranks as far from its slow end.
    EXPECT_EQ(system.refine().by_links, 8u);
}

TEST_F(symmetry, stops_where_nobody_meets) {
    Symmetry system(topology_, {1, 0, 0, 0, 0, 0, 0, 0});
    for (const std::uint32_t first : {0U, 2U, 4U, 6U}) system.add_group(0, ranks({first, first + 1}));
    const auto colours = system.refine();
    EXPECT_THAT(colours.of_rank, ElementsAre(0, 1, 2, 2, 2, 2, 2, 2));
    EXPECT_THAT(colours.of_group, ElementsAre(0, 1, 1, 1));
    EXPECT_EQ(colours.by_members, 3u);
}

// How many of a kind a group meets does not change when it starts: with the last.
TEST_F(symmetry, counts_whom_a_group_meets_not_how_often) {
    Symmetry system(topology_, {1, 1, 0, 1, 0, 0});
    system.add_group(0, ranks({0, 1, 2}));
    system.add_group(0, ranks({3, 4, 5}));
    EXPECT_THAT(system.refine().of_rank, ElementsAre(0, 0, 1, 0, 1, 1));
}

TEST_F(symmetry, groups_whose_routes_differ_in_latency_are_told_apart) {
    Symmetry system(topology_, std::vector<std::uint32_t>(4, 0));
    system.add_group(7, ranks({0, 1}));
    system.add_stretch(stretch({0, 3}));
    system.add_group(7, ranks({2, 3}));
    system.add_stretch(stretch({4, 7}, 2_us));
    const auto colours = system.refine();
    EXPECT_EQ(colours.by_members, 1u);
    EXPECT_EQ(colours.by_costs, 2u);
    EXPECT_THAT(colours.uneven_kinds, ElementsAre(7));
}

// 0 -> 1 and 2 -> 1 share the link down to 1, while 4 -> 5 has its own.
TEST_F(symmetry, groups_that_share_links_unequally_are_told_apart) {
    Symmetry system(topology_, std::vector<std::uint32_t>(8, 0));
    system.add_group(0, ranks({0}));
    system.add_stretch(stretch({0, 3}));
    system.add_group(0, ranks({2}));
    system.add_stretch(stretch({3, 4}));
    system.add_group(0, ranks({4}));
    system.add_stretch(stretch({8, 11}));
    const auto colours = system.refine();
    EXPECT_EQ(colours.of_group[0], colours.of_group[1]);
    EXPECT_NE(colours.of_group[0], colours.of_group[2]);
    EXPECT_EQ(colours.by_costs, 2u);  // ranks in groups, and ranks in none
    EXPECT_EQ(colours.by_links, 3u);
    EXPECT_THAT(colours.shared_links, ElementsAre(LinkClassId{0}));
}

// Two flows of 4 GB/s at most do not fill 10 GB/s, however they start.
TEST_F(symmetry, links_that_cannot_be_used_up_tell_nothing_apart) {
    Symmetry system(topology_, std::vector<std::uint32_t>(8, 0));
    for (const auto& links : {std::vector<std::uint32_t>{0, 3}, {3, 4}, {8, 11}}) {
        system.add_group(0, ranks({links == std::vector<std::uint32_t>{3, 4} ? 2U : links[0] / 2}));
        PhaseCost slow = stretch(links);
        slow.pattern.cap = 4_GBps;
        system.add_stretch(slow);
    }
    const auto colours = system.refine();
    EXPECT_THAT(colours.of_group, ElementsAre(0, 0, 0));
    EXPECT_TRUE(colours.shared_links.empty());
}

// One stretch at a time: a group whose two stretches use a link does not share it with itself.
TEST_F(symmetry, stretches_of_a_group_follow_one_another) {
    Symmetry system(topology_, {0, 0});
    system.add_group(0, ranks({0, 1}));
    system.add_stretch(stretch({0, 3}));
    system.add_stretch(stretch({0, 3}));
    EXPECT_TRUE(system.refine().shared_links.empty());
}

}  // namespace
}  // namespace weft
