// Small schedules written out by hand.
#include <gtest/gtest.h>

#include "tests/workloads/schedule/shapes.hpp"

namespace weft {
namespace {

std::string order(std::string_view key, const PipelineShape& shape, std::uint32_t stage) {
    return text(find_schedule(key)->slots(shape, stage));
}

// Narayanan et al. (arXiv 2104.04473), figure 4, top: four devices, eight micro-batches (there numbered from 1).
TEST(order, of_1f1b_is_that_of_the_figure) {
    const PipelineShape shape{.stages = 4, .micro_batches = 8};
    EXPECT_EQ(order("1f1b", shape, 0), "F0 F1 F2 F3 B0 F4 B1 F5 B2 F6 B3 F7 B4 B5 B6 B7");
    EXPECT_EQ(order("1f1b", shape, 1), "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 B6 B7");
    EXPECT_EQ(order("1f1b", shape, 2), "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 F6 B5 F7 B6 B7");
    EXPECT_EQ(order("1f1b", shape, 3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7");
}

// Groups of two micro-batches, part 0 then part 1; warm-up 2 (2 - 1) + 2 = 4 on stage 0, 2 on stage 1.
TEST(order, of_interleaved_walks_the_parts_in_groups_of_stages) {
    const PipelineShape shape{.stages = 2, .micro_batches = 4, .chunks = 2};
    EXPECT_EQ(order("interleaved", shape, 0), "F0 F1 F0.1 F1.1 F2 B0.1 F3 B1.1 F2.1 B0 F3.1 B1 B2.1 B3.1 B2 B3");
    EXPECT_EQ(order("interleaved", shape, 1), "F0 F1 F0.1 B0.1 F1.1 B1.1 F2 B0 F3 B1 F2.1 B2.1 F3.1 B3.1 B2 B3");
}

// With as many micro-batches as stages Megatron-core 0.8.0 runs all forwards first, on every stage.
TEST(order, of_interleaved_with_one_group_is_all_forwards_first) {
    const PipelineShape shape{.stages = 2, .micro_batches = 2, .chunks = 2};
    for (std::uint32_t s = 0; s < 2; ++s) {
        EXPECT_EQ(order("interleaved", shape, s), "F0 F1 F0.1 F1.1 B0.1 B1.1 B0 B1");
    }
}

// Qi et al. (arXiv 2401.10241), figure 3, top: four devices, eight micro-batches (there numbered from 1).
TEST(order, of_zb_h1_is_that_of_the_figure) {
    const PipelineShape shape{.stages = 4, .micro_batches = 8};
    EXPECT_EQ(order("zb-h1", shape, 0), "F0 F1 F2 F3 I0 W0 F4 I1 W1 F5 I2 W2 F6 I3 W3 F7 I4 W4 I5 W5 I6 W6 I7 W7");
    EXPECT_EQ(order("zb-h1", shape, 3), "F0 I0 F1 I1 F2 I2 F3 I3 W0 F4 I4 W1 F5 I5 W2 F6 I6 W3 F7 I7 W4 W5 W6 W7");
}

// The same figure, bottom.
TEST(order, of_zb_h2_is_that_of_the_figure) {
    const PipelineShape shape{.stages = 4, .micro_batches = 8};
    EXPECT_EQ(order("zb-h2", shape, 0), "F0 F1 F2 F3 F4 F5 F6 I0 W0 F7 I1 W1 I2 W2 I3 W3 I4 W4 I5 W5 I6 W6 I7 W7");
    EXPECT_EQ(order("zb-h2", shape, 3), "F0 I0 F1 I1 F2 I2 F3 I3 F4 I4 F5 I5 F6 I6 W0 F7 I7 W1 W2 W3 W4 W5 W6 W7");
}

// Down on part 0 and up on part 1: stage 1 can go on at once, stage 0 sees micro-batch 0 again after three forwards.
TEST(order, of_zb_v_without_a_gap) {
    const PipelineShape shape{.stages = 2, .micro_batches = 3, .chunks = 2};
    EXPECT_EQ(order("zb-v", shape, 0), "F0 F1 F2 F0.1 I0.1 W0.1 F1.1 I1.1 W1.1 I0 W0 F2.1 I2.1 W2.1 I1 W1 I2 W2");
    EXPECT_EQ(order("zb-v", shape, 1), "F0 F0.1 F1 F1.1 I0.1 W0.1 F2 I0 W0 F2.1 I1.1 W1.1 I1 I2.1 I2 W1 W2.1 W2");
}

// The eight steps for two stages: F0 F1 | F0 B1 F1 B0 | B1 B0 | W, where 0 enters here and 1 at the other end.
TEST(order, of_dualpipe_mirrors_its_ends) {
    const PipelineShape shape{.stages = 2, .micro_batches = 4, .chunks = 2};
    EXPECT_EQ(order("dualpipe", shape, 0), "F0 F2.1 F1 B2.1 F3.1 B0 B3.1 I1 W1");
    EXPECT_EQ(order("dualpipe", shape, 1), "F2.1 F0 F3.1 B0 F1 B2.1 B1 I3.1 W3.1");
}

}  // namespace
}  // namespace weft
