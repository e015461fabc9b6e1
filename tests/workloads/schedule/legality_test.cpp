// What every registered schedule must obey, on every shape that it runs.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "tests/workloads/schedule/executor.hpp"
#include "tests/workloads/schedule/shapes.hpp"

namespace weft {
namespace {

using Case = std::tuple<const Schedule*, std::uint32_t>;  // schedule, stages

class schedules : public testing::TestWithParam<Case> {};

// Where the slots of one micro-batch on one chunk stand in the list; none: -1.
struct Positions {
    std::array<int, 4> by_kind{-1, -1, -1, -1};
    int of(SlotKind kind) const { return by_kind[static_cast<std::size_t>(kind)]; }
};

using Visits = std::map<std::pair<std::uint32_t, std::uint32_t>, Positions>;  // by (micro-batch, chunk)

Visits visits(const std::vector<Slot>& slots) {
    Visits found;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        int& position = found[{slots[i].micro_batch, slots[i].chunk}].by_kind[static_cast<std::size_t>(slots[i].kind)];
        EXPECT_EQ(position, -1) << "twice: slot " << i;
        position = static_cast<int>(i);
    }
    return found;
}

// Forward, then either the whole backward or the activations' gradient and later the weights'.
void expect_forward_then_backward(const Positions& at) {
    EXPECT_GE(at.of(SlotKind::forward), 0);
    if (at.of(SlotKind::backward) >= 0) {
        EXPECT_GT(at.of(SlotKind::backward), at.of(SlotKind::forward));
        EXPECT_EQ(at.of(SlotKind::input_backward), -1);
        EXPECT_EQ(at.of(SlotKind::weight_backward), -1);
    } else {
        EXPECT_GT(at.of(SlotKind::input_backward), at.of(SlotKind::forward));
        EXPECT_GT(at.of(SlotKind::weight_backward), at.of(SlotKind::input_backward));
    }
}

TEST_P(schedules, run_every_micro_batch_once_forward_and_once_backward_on_its_places) {
    const auto [schedule, stages] = GetParam();
    for (const PipelineShape& shape : legal_shapes(*schedule, stages)) {
        SCOPED_TRACE(text(shape));
        std::vector<std::set<std::pair<std::uint32_t, std::uint32_t>>> expected(stages);
        for (std::uint32_t m = 0; m < shape.micro_batches; ++m) {
            for (const Place& place : schedule->path(shape, m)) expected.at(place.stage).insert({m, place.chunk});
        }
        for (std::uint32_t s = 0; s < stages; ++s) {
            const Visits found = visits(schedule->slots(shape, s));
            ASSERT_EQ(found.size(), expected[s].size()) << "stage " << s;
            for (const auto& [visit, positions] : found) {
                ASSERT_TRUE(expected[s].contains(visit)) << "stage " << s << " is not on the path";
                expect_forward_then_backward(positions);
            }
        }
        ASSERT_FALSE(HasFailure());
    }
}

// One copy of the model: a micro-batch passes every place once. Two copies, in both directions: every stage once on
// one of the chunks, and all places are passed by the two directions together.
TEST_P(schedules, lead_micro_batches_through_every_place_once) {
    const auto [schedule, stages] = GetParam();
    for (const PipelineShape& shape : legal_shapes(*schedule, stages)) {
        SCOPED_TRACE(text(shape));
        std::set<std::pair<std::uint32_t, std::uint32_t>> all;
        for (std::uint32_t m = 0; m < shape.micro_batches; ++m) {
            std::set<std::pair<std::uint32_t, std::uint32_t>> places;
            const std::vector<Place> path = schedule->path(shape, m);
            for (const Place& place : path) {
                EXPECT_LT(place.stage, stages);
                EXPECT_LT(place.chunk, shape.chunks);
                EXPECT_TRUE(places.emplace(place.stage, place.chunk).second) << "twice";
            }
            ASSERT_EQ(path.size() * schedule->copies, std::size_t{stages} * shape.chunks);
            all.merge(places);
        }
        ASSERT_EQ(all.size(), std::size_t{stages} * shape.chunks);
    }
}

// Whether stages wait for one another in a circle follows from order alone; the times only show that nothing is lost.
TEST_P(schedules, come_to_an_end_at_any_speed) {
    const auto [schedule, stages] = GetParam();
    for (const PipelineShape& shape : legal_shapes(*schedule, stages)) {
        SCOPED_TRACE(text(shape));
        for (const SlotTimes times : {SlotTimes{1, 1, 1}, SlotTimes{3, 7, 2}, SlotTimes{5, 1, 9}}) {
            const Execution run = execute(*schedule, shape, times);
            ASSERT_TRUE(run.finished) << "the stages wait for one another";
            const std::int64_t visits = std::int64_t{shape.micro_batches} * shape.chunks / schedule->copies;
            for (const std::int64_t busy : run.busy) {
                ASSERT_EQ(busy, visits * (times.forward + times.input + times.weight));
            }
        }
    }
}

// Shapes and times that nobody chose; from whichever end one looks, no step is shorter than its busiest stage or one
// micro-batch's way there and back.
RC_GTEST_PROP(schedule, comes_to_an_end_on_any_shape, ()) {
    const Schedule& schedule = *schedule::all()[*rc::gen::inRange<std::size_t>(0, schedule::all().size())];
    PipelineShape shape{.stages = *rc::gen::inRange(1U, 25U), .micro_batches = *rc::gen::inRange(1U, 81U)};
    shape.chunks = schedule.chunks == 0 ? *rc::gen::inRange(2U, 7U) : schedule.chunks;
    RC_PRE(schedule.obstacle(shape).empty());
    const auto time = rc::gen::inRange<std::int64_t>(1, 100);
    const SlotTimes times{*time, *time, *time};
    const Execution run = execute(schedule, shape, times);
    RC_ASSERT(run.finished);
    RC_ASSERT(run.bubble() >= 0);
    const auto parts = static_cast<std::int64_t>(schedule.path(shape, 0).size());
    RC_ASSERT(run.end >= parts * (times.forward + times.input));
}

// Whether a schedule runs a shape, said once more from its papers and sources, of those that are told here.
bool expected_to_run(const Schedule& schedule, const PipelineShape& shape) {
    if (schedule.key == "interleaved") {
        return shape.stages > 1 && shape.chunks > 1 && shape.micro_batches % shape.stages == 0;
    }
    if (schedule.key == "dualpipe") {
        return shape.stages % 2 == 0 && shape.micro_batches % 2 == 0 && shape.micro_batches >= 2 * shape.stages;
    }
    const bool shipped = schedule.key == "1f1b" || schedule.key == "gpipe" || schedule.key.starts_with("zb-");
    return shipped || schedule.obstacle(shape).empty();
}

// What frameworks go by is what the slots of the last stage hold; those with joint passes say so of themselves.
TEST_P(schedules, declare_what_their_slots_need) {
    const auto [schedule, stages] = GetParam();
    const std::vector<PipelineShape> legal = legal_shapes(*schedule, stages);
    if (legal.empty()) return;
    bool apart = false, ahead = false;
    for (const PipelineShape& shape : legal) {
        if (shape.passes == PassOrder::joint) continue;
        const std::vector<Slot> slots = schedule->slots(shape, stages - 1);
        apart |= std::ranges::any_of(slots, [](const Slot& slot) { return slot.kind == SlotKind::input_backward; });
        ahead |= slots.size() > 2 && slots[1].kind == SlotKind::forward && shape.chunks == 1;
    }
    EXPECT_EQ(schedule->needs.weights_apart, apart);
    EXPECT_EQ(schedule->needs.forwards_ahead, ahead);
    EXPECT_EQ(schedule->needs.several_parts, schedule->chunks != 1);
    EXPECT_EQ(schedule->needs.both_directions, schedule->copies > 1);
}

TEST_P(schedules, refuse_only_the_shapes_that_they_cannot_run_and_name_the_number) {
    const auto [schedule, stages] = GetParam();
    for (const PipelineShape& shape : shapes(*schedule, stages)) {
        const std::string obstacle = schedule->obstacle(shape);
        EXPECT_EQ(obstacle.empty(), expected_to_run(*schedule, shape)) << text(shape) << ": " << obstacle;
        if (obstacle.empty()) continue;
        const bool named = obstacle.ends_with(fmt::format(" {}", shape.stages)) ||
                           obstacle.ends_with(fmt::format(" {}", shape.chunks)) ||
                           obstacle.ends_with(fmt::format(" {}", shape.micro_batches));
        EXPECT_TRUE(named) << obstacle;
    }
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
    std::string name = fmt::format("s{}_p{}", std::get<0>(info.param)->key, std::get<1>(info.param));
    std::ranges::replace(name, '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(all, schedules,
                         testing::Combine(testing::ValuesIn(schedule::all().begin(), schedule::all().end()),
                                          testing::ValuesIn(stage_counts)),
                         case_name);

TEST(schedule, keys_are_those_of_the_job_file) {
    for (const char* key : {"1f1b", "gpipe", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe"}) {
        EXPECT_NE(find_schedule(key), nullptr) << key;
    }
    EXPECT_EQ(find_schedule("2f2b"), nullptr);
}

TEST(schedule, what_a_framework_lacks_is_told_in_words) {
    const ScheduleNeeds needs{.weights_apart = true, .several_parts = true};
    EXPECT_TRUE(missing(needs, needs).empty());
    EXPECT_EQ(missing(needs, {.forwards_ahead = true, .several_parts = true}),
              (std::vector<std::string_view>{"weights' gradients apart from the activations'"}));
}

TEST(schedule, obstacles_name_both_numbers) {
    EXPECT_EQ(find_schedule("interleaved")->obstacle({4, 6, 2}),
              "interleaving needs a multiple of the 4 pipeline stages as micro-batches, not 6");
    EXPECT_EQ(find_schedule("dualpipe")->obstacle({8, 14, 2}),
              "dualpipe needs at least 16 micro-batches for 8 pipeline stages, not 14");
}

}  // namespace
}  // namespace weft
