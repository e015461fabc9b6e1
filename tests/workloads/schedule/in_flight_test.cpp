// Activations that are alive at once, per stage, against what the papers say.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workloads/schedule/shapes.hpp"

namespace weft {
namespace {

// The most activations of micro-batches (on one chunk each) that are alive at once on a stage with these slots: from
// forward until the weights' gradient is done.
std::uint32_t peak_in_flight(std::span<const Slot> slots) {
    std::uint32_t alive = 0, peak = 0;
    for (const Slot& slot : slots) {
        if (slot.kind == SlotKind::forward) {
            peak = std::max(peak, ++alive);
        } else if (slot.kind != SlotKind::input_backward) {
            --alive;
        }
    }
    return peak;
}

class in_flight : public testing::TestWithParam<std::uint32_t> {};

// expected(shape, stage) on every stage of every legal shape.
template <typename Expected>
void expect_peak(std::string_view key, std::uint32_t stages, Expected expected) {
    const Schedule& schedule = *find_schedule(key);
    for (const PipelineShape& shape : legal_shapes(schedule, stages)) {
        for (std::uint32_t s = 0; s < stages; ++s) {
            ASSERT_EQ(peak_in_flight(schedule.slots(shape, s)), expected(shape, s))
                << key << ", stage " << s << ": " << text(shape);
        }
    }
}

TEST_P(in_flight, of_gpipe_are_all_micro_batches) {
    expect_peak("gpipe", GetParam(), [](const PipelineShape& shape, std::uint32_t) { return shape.micro_batches; });
}

TEST_P(in_flight, of_1f1b_are_the_stages_from_here_to_the_last) {
    expect_peak("1f1b", GetParam(), [](const PipelineShape& shape, std::uint32_t stage) {
        return std::min(shape.stages - stage + (shape.passes == PassOrder::joint ? 1 : 0), shape.micro_batches);
    });
}

// The forwards before the first backward and the one beside it; all when there are as many micro-batches as stages.
// Joint passes need one more.
TEST_P(in_flight, of_interleaved_are_the_warm_up_and_one) {
    expect_peak("interleaved", GetParam(), [](const PipelineShape& shape, std::uint32_t stage) {
        const std::uint32_t all = shape.micro_batches * shape.chunks;
        const std::uint32_t warm_up = 2 * (shape.stages - stage - 1) + (shape.chunks - 1) * shape.stages;
        if (shape.passes == PassOrder::joint) return std::min(warm_up + 2, all);
        return shape.micro_batches == shape.stages ? all : std::min(warm_up + 1, all);
    });
}

// Qi et al. (arXiv 2401.10241), section 2.3: p, on every stage.
TEST_P(in_flight, of_zb_h1_are_those_of_the_first_stage_of_1f1b) {
    expect_peak("zb-h1", GetParam(),
                [](const PipelineShape& shape, std::uint32_t) { return std::min(shape.stages, shape.micro_batches); });
}

// Qi et al. (arXiv 2401.10241), section 2.3: 2p - 1, on every stage.
TEST_P(in_flight, of_zb_h2_are_nearly_twice_as_many) {
    expect_peak("zb-h2", GetParam(), [](const PipelineShape& shape, std::uint32_t) {
        return std::min(2 * shape.stages - 1, shape.micro_batches);
    });
}

// Qi et al. (arXiv 2405.15362): p whole stages, hence 2p halves; all of them from m = 2p - 1.
TEST_P(in_flight, of_zb_v_are_two_halves_per_stage_of_the_pipeline) {
    const Schedule& schedule = *find_schedule("zb-v");
    for (const PipelineShape& shape : legal_shapes(schedule, GetParam())) {
        for (std::uint32_t s = 0; s < shape.stages; ++s) {
            const std::uint32_t peak = peak_in_flight(schedule.slots(shape, s));
            ASSERT_LE(peak, 2 * shape.stages) << "stage " << s << ": " << text(shape);
            if (shape.micro_batches >= 2 * shape.stages - 1) {
                ASSERT_EQ(peak, 2 * shape.stages) << "stage " << s << ": " << text(shape);
            }
        }
    }
}

// The repository's README: PP + 1.
TEST_P(in_flight, of_dualpipe_are_one_more_than_stages) {
    expect_peak("dualpipe", GetParam(), [](const PipelineShape& shape, std::uint32_t) { return shape.stages + 1; });
}

INSTANTIATE_TEST_SUITE_P(all, in_flight, testing::ValuesIn(stage_counts), testing::PrintToStringParamName());

}  // namespace
}  // namespace weft
