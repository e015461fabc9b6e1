// Slots of pipelines lined up, against published closed forms and against themselves.
#include "workloads/search/screening.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "tests/workloads/schedule/shapes.hpp"

namespace weft {
namespace {

PipelineTimes even_times(const PipelineShape& shape, const PartTimes& part, double crossing = 0) {
    return {.chunks = shape.chunks,
            .parts = std::vector(std::size_t{shape.stages} * shape.chunks, part),
            .forward_crossing = std::vector(shape.stages, crossing),
            .backward_crossing = std::vector(shape.stages, crossing)};
}

double end(std::string_view key, const PipelineShape& shape, const PipelineTimes& times) {
    return std::ranges::max(SlotOrder(*find_schedule(key), shape).ends(times));
}

constexpr PartTimes part{.forward = 1, .input_backward = 1, .weight_backward = 1, .backward = 2};

// (m + p - 1)(F + B), Huang et al. and Narayanan et al.
TEST(slot_order, gpipe_and_1f1b_wait_for_fill_and_drain) {
    const PipelineShape shape{4, 16, 1};
    EXPECT_DOUBLE_EQ(end("gpipe", shape, even_times(shape, part)), (16 + 3) * 3);
    EXPECT_DOUBLE_EQ(end("1f1b", shape, even_times(shape, part)), (16 + 3) * 3);
}

// m v (f + b) + (p - 1)(f + b) with f, b of one model part: the bubble is v times smaller.
TEST(slot_order, interleaving_divides_the_bubble) {
    const PipelineShape shape{4, 16, 3};
    EXPECT_DOUBLE_EQ(end("interleaved", shape, even_times(shape, part)), 16 * 3 * 3 + 3 * 3);
}

// (p - 1)(F + B - W) instead of (p - 1)(F + B + W), Qi et al.
TEST(slot_order, zero_bubble_fills_the_drain_with_weights) {
    const PipelineShape shape{4, 16, 1};
    EXPECT_DOUBLE_EQ(end("zb-h1", shape, even_times(shape, part)), 16 * 3 + 3);
}

// DualPipe's (p / 2 - 1)(F&B + B - 3W), B the whole backward, against (p / 2 - 1)(F + B - 2W) in turn; interleaved
// stages lose nothing.
TEST(slot_order, joint_passes_begin_and_end_together) {
    const auto joint = [](PipelineShape shape) {
        shape.passes = PassOrder::joint;
        PipelineTimes times = even_times(shape, part);
        times.joint.assign(std::size_t{shape.stages} * shape.chunks * shape.chunks, 3.0);
        return std::pair{shape, times};
    };
    const auto [mirrored, mirrored_times] = joint({8, 32, 2});
    EXPECT_DOUBLE_EQ(end("dualpipe", mirrored, mirrored_times), 32 * 3 + 3 * (3 + 2 - 3));
    EXPECT_DOUBLE_EQ(end("dualpipe", {8, 32, 2}, even_times(mirrored, part)), 32 * 3 + 3 * (1 + 2 - 2));
    const auto [several, several_times] = joint({4, 16, 3});
    EXPECT_DOUBLE_EQ(end("interleaved", several, several_times), 16 * 3 * 3 + 3 * 3);
    const auto [alone, alone_times] = joint({1, 16, 1});
    EXPECT_DOUBLE_EQ(end("1f1b", alone, alone_times), 16 * 3);
}

// One micro-batch crosses p - 1 boundaries each way.
TEST(slot_order, one_micro_batch_pays_every_crossing) {
    const PipelineShape shape{4, 1, 1};
    for (const char* key : {"1f1b", "gpipe"}) {
        EXPECT_NEAR(end(key, shape, even_times(shape, part, 0.25)), 4 * 3 + 6 * 0.25, 1e-12) << key;
    }
    // Only the first stage's weights' gradient is left to the end.
    for (const char* key : {"zb-h1", "zb-h2"}) {
        EXPECT_NEAR(end(key, shape, even_times(shape, part, 0.25)), 4 * 2 + 1 + 6 * 0.25, 1e-12) << key;
    }
}

TEST(slot_order, the_slowest_stage_sets_the_pace) {
    const PipelineShape shape{4, 64, 1};
    PipelineTimes times = even_times(shape, part);
    times.parts[2] = {.forward = 2, .input_backward = 2, .weight_backward = 2, .backward = 4};
    const double whole = end("1f1b", shape, times);
    EXPECT_GE(whole, 64 * 6);
    EXPECT_LE(whole, 64 * 6 + 3 * 3);
}

// Long pipelines are timed by two short ones.
TEST(pipeline_clock, is_as_if_all_micro_batches_were_lined_up) {
    for (const Schedule* schedule : schedule::all()) {
        for (const std::uint32_t stages : {1U, 2U, 3U, 4U, 8U, 16U, 32U}) {
            for (const std::uint32_t micro_batches : {3 * stages, 8 * stages + 3, 40 * stages, 2048U}) {
                PipelineShape shape{stages, micro_batches, schedule->chunks == 0 ? 2 : schedule->chunks};
                if (!schedule->obstacle(shape).empty()) continue;
                PipelineTimes times = even_times(shape, part, 0.125);
                times.parts.back().backward += 0.5;
                times.parts.front().forward += 0.25;
                const std::vector<double> all = SlotOrder(*schedule, shape).ends(times),
                                          fast = PipelineClock(*schedule, shape).ends(times);
                const double last = std::ranges::max(all);
                EXPECT_NEAR(std::ranges::max(fast), last, 0.015 * last) << schedule->key << ", " << text(shape);
            }
        }
    }
}

TEST(slot_order, refuses_what_the_schedule_cannot_run) {
    EXPECT_THROW(SlotOrder(*find_schedule("interleaved"), {.stages = 4, .micro_batches = 6, .chunks = 2}), LogicError);
}

}  // namespace
}  // namespace weft
