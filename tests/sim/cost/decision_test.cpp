#include "sim/cost/library.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr GroupShape sixteen{.members = 16, .nodes = 2}, twelve{.members = 12, .nodes = 2}, node{.members = 8};

TEST(decision, holds_up_to_its_bounds_and_not_at_what_it_is_over) {
    const Decision decision{.algorithm = "ring",
                            .ops = {Collective::all_gather},
                            .least_members = 12,
                            .most_members = 16,
                            .over = 1_KiB,
                            .most = 1_MiB};
    EXPECT_FALSE(decision.holds(Collective::all_gather, sixteen, 1_KiB));
    EXPECT_TRUE(decision.holds(Collective::all_gather, sixteen, 1025_B));
    EXPECT_TRUE(decision.holds(Collective::all_gather, twelve, 1_MiB));
    EXPECT_FALSE(decision.holds(Collective::all_gather, twelve, 2_MiB));
    EXPECT_FALSE(decision.holds(Collective::all_gather, node, 1_MiB));
    EXPECT_FALSE(decision.holds(Collective::all_gather, {.members = 17}, 1_MiB));
    EXPECT_FALSE(decision.holds(Collective::all_reduce, sixteen, 1_MiB));
}

TEST(decision, may_ask_for_a_power_of_two_of_members_and_for_where_they_sit) {
    const Decision power{.ops = {Collective::all_gather}, .power_of_two = true};
    EXPECT_TRUE(power.holds(Collective::all_gather, sixteen, 8_B));
    EXPECT_FALSE(power.holds(Collective::all_gather, twelve, 8_B));
    const Decision in_node{.ops = {Collective::all_gather}, .where = Decision::Where::in_node};
    const Decision across{.ops = {Collective::all_gather}, .where = Decision::Where::across};
    EXPECT_TRUE(in_node.holds(Collective::all_gather, node, 8_B));
    EXPECT_FALSE(in_node.holds(Collective::all_gather, sixteen, 8_B));
    EXPECT_TRUE(across.holds(Collective::all_gather, sixteen, 8_B));
    EXPECT_FALSE(across.holds(Collective::all_gather, node, 8_B));
}

}  // namespace
}  // namespace weft
