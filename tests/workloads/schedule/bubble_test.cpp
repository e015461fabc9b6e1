// Bubbles against the closed forms of the papers, in exact ticks. F, B, W: a stage's times of forward, activations'
// gradient and weights' gradient.
#include <gtest/gtest.h>

#include "tests/workloads/schedule/executor.hpp"
#include "tests/workloads/schedule/shapes.hpp"

namespace weft {
namespace {

constexpr SlotTimes equal_times{1, 1, 1};

class bubble : public testing::TestWithParam<std::uint32_t> {};

Execution run(std::string_view key, const PipelineShape& shape, SlotTimes times) {
    return execute(*find_schedule(key), shape, times);
}

std::vector<PipelineShape> shapes_from(std::string_view key, std::uint32_t stages, std::uint32_t micro_batches,
                                       PassOrder passes = PassOrder::in_turn) {
    std::vector<PipelineShape> found;
    for (const PipelineShape& shape : legal_shapes(*find_schedule(key), stages)) {
        if (shape.micro_batches >= micro_batches && shape.passes == passes) found.push_back(shape);
    }
    return found;
}

// Huang et al. (arXiv 1811.06965), Narayanan et al. (arXiv 2104.04473): (p - 1)(F + B + W), for any times and m.
TEST_P(bubble, of_gpipe_and_1f1b) {
    const std::int64_t p = GetParam();
    for (const std::string_view key : {"gpipe", "1f1b"}) {
        for (const PipelineShape& shape : shapes_from(key, GetParam(), 1)) {
            EXPECT_EQ(run(key, shape, {1, 1, 1}).bubble(), (p - 1) * 3) << key << ": " << text(shape);
            EXPECT_EQ(run(key, shape, {3, 5, 2}).bubble(), (p - 1) * 10) << key << ": " << text(shape);
        }
    }
}

// Narayanan et al. (arXiv 2104.04473), section 2.2.2: 1/v of that, so that the times of one part take its place. The
// one forward more that joint passes begin with makes up for what they hold back.
TEST_P(bubble, of_interleaved) {
    const std::int64_t p = GetParam();
    for (const PassOrder passes : {PassOrder::in_turn, PassOrder::joint}) {
        for (const PipelineShape& shape : shapes_from("interleaved", GetParam(), 1, passes)) {
            EXPECT_EQ(run("interleaved", shape, {1, 1, 1}).bubble(), (p - 1) * 3) << text(shape);
            EXPECT_EQ(run("interleaved", shape, {3, 5, 2}).bubble(), (p - 1) * 10) << text(shape);
        }
    }
}

// Qi et al. (arXiv 2401.10241), section 2.3: (p - 1)(F + B - W), from m = p and for W <= F. What a stage waits between
// its own slots; the first stage begins and ends the step, so that it is the step's bubble too.
TEST_P(bubble, of_zb_h1) {
    const std::int64_t p = GetParam();
    for (const PipelineShape& shape : shapes_from("zb-h1", GetParam(), GetParam())) {
        for (const SlotTimes t : {equal_times, SlotTimes{2, 3, 1}, SlotTimes{3, 2, 2}, SlotTimes{10, 11, 9}}) {
            const Execution execution = run("zb-h1", shape, t);
            EXPECT_EQ(execution.longest_wait(), (p - 1) * (t.forward + t.input - t.weight)) << text(shape);
            EXPECT_EQ(execution.bubble(), execution.longest_wait()) << text(shape);
        }
        EXPECT_EQ(run("zb-h1", shape, {1, 2, 3}).longest_wait(), (p - 1) * 2) << "W > F: (p - 1)B, " << text(shape);
        EXPECT_EQ(3 * run("zb-h1", shape, equal_times).bubble(),
                  run("1f1b", {shape.stages, shape.micro_batches, 1}, equal_times).bubble());
    }
}

// There again: (p - 1)(F + B - 2W), from m = 2p - 1 and for W <= F, 2W <= F + B. Stages are offset by a forward each,
// and the paper counts the waits inside a stage; a step alone takes that offset longer.
TEST_P(bubble, of_zb_h2) {
    const std::int64_t p = GetParam();
    for (const PipelineShape& shape : shapes_from("zb-h2", GetParam(), 2 * GetParam() - 1)) {
        for (const SlotTimes t : {equal_times, SlotTimes{2, 3, 1}, SlotTimes{3, 2, 2}, SlotTimes{10, 11, 9}}) {
            EXPECT_EQ(run("zb-h2", shape, t).longest_wait(), (p - 1) * (t.forward + t.input - 2 * t.weight))
                << text(shape);
        }
        EXPECT_EQ(run("zb-h2", shape, equal_times).longest_wait(), 0) << text(shape);
        EXPECT_EQ(run("zb-h2", shape, equal_times).bubble(), p - 1) << text(shape);
    }
}

// Qi et al. (arXiv 2405.15362): none for F = B = W; here from m = 2p - 1. The offset is half a stage's
// forward.
TEST_P(bubble, of_zb_v) {
    const std::int64_t p = GetParam();
    for (const PipelineShape& shape : shapes_from("zb-v", GetParam(), 2 * GetParam() - 1)) {
        EXPECT_EQ(run("zb-v", shape, equal_times).longest_wait(), 0) << text(shape);
        EXPECT_EQ(run("zb-v", shape, equal_times).bubble(), p - 1) << text(shape);
    }
}

// The repository's README: (p / 2 - 1)(F&B + B' - 3W) with the full backward B' = B + W, from m = 2p. F&B = F + B'
// for a pair that takes as long as its two halves: (p / 2 - 1)(F + 2B - W), for F = B >= W.
TEST_P(bubble, of_dualpipe_with_pairs_run_as_one) {
    const std::int64_t p = GetParam();
    for (const PipelineShape& shape : shapes_from("dualpipe", GetParam(), 1, PassOrder::joint)) {
        for (const SlotTimes t : {equal_times, SlotTimes{2, 2, 1}, SlotTimes{5, 5, 3}}) {
            const std::int64_t full = t.input + t.weight, pair = t.forward + full;
            EXPECT_EQ(run("dualpipe", shape, t).bubble(), (p / 2 - 1) * (pair + full - 3 * t.weight)) << text(shape);
        }
    }
}

// In turn, the forward's result leaves before the backward is done: (p / 2 - 1)(F + B - W),
// for W <= B <= F <= B + W.
TEST_P(bubble, of_dualpipe_with_pairs_in_turn) {
    const std::int64_t p = GetParam();
    for (const PipelineShape& shape : shapes_from("dualpipe", GetParam(), 1)) {
        for (const SlotTimes t : {equal_times, SlotTimes{2, 2, 1}, SlotTimes{3, 2, 2}, SlotTimes{10, 9, 8}}) {
            const Execution execution = run("dualpipe", shape, t);
            EXPECT_EQ(execution.bubble(), (p / 2 - 1) * (t.forward + t.input - t.weight)) << text(shape);
            PipelineShape joint = shape;
            joint.passes = PassOrder::joint;
            EXPECT_LE(execution.bubble(), run("dualpipe", joint, t).bubble()) << text(shape);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(all, bubble, testing::ValuesIn(stage_counts), testing::PrintToStringParamName());

}  // namespace
}  // namespace weft
