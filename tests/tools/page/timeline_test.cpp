#include "tools/page/timeline.hpp"

#include <gtest/gtest.h>

#include "sim/base/check.hpp"
#include "sim/program/program_builder.hpp"

namespace weft {
namespace {

constexpr LaneId compute{0};

struct LongRun {
    Step step;
    Timeline timeline;
};

// `classes` rank classes to a stage; a class has `ops` operations of 2 ns every 10 ns, and a join.
LongRun recorded(std::uint32_t stages, std::uint32_t classes, std::uint32_t ops) {
    LongRun run;
    ProgramBuilder builder({"compute"});
    for (std::uint32_t c = 0; c < stages * classes; ++c) {
        builder.begin_class("class", RankId(c), 1);
        run.step.stage.push_back(c / classes);
        for (std::uint32_t i = 0; i < ops; ++i) {
            builder.add({OpKind::compute, compute, builder.label("forward"), builder.work({2e-9}), i, 0}, {});
            const Instant begin{10'000'000 * std::int64_t{i}};
            run.timeline.spans.push_back({begin, begin, begin + Seconds{2e-9}});
        }
        builder.add({OpKind::join, compute, builder.label("joined"), 0, 0, 0}, {});
        run.timeline.spans.push_back({});
    }
    run.timeline.end = {10'000'000 * std::int64_t{ops}};
    run.step.program = builder.finish();
    return run;
}

TEST(timeline, shows_the_first_class_of_every_stage_where_there_is_room) {
    const LongRun run = recorded(3, 2, 100);
    const TimelinePart part = timeline_part(run.step, run.timeline);
    EXPECT_EQ(part.classes, (std::vector{RankClassId{0}, RankClassId{2}, RankClassId{4}}));
    EXPECT_EQ(part.stages, 3u);
    EXPECT_EQ(part.slices, 300u);
    EXPECT_EQ(part.left_out, 0u);
    EXPECT_GT(part.until, run.timeline.end);
    EXPECT_EQ(part.further, (std::vector{RankClassId{1}, RankClassId{3}, RankClassId{5}}));
    EXPECT_EQ(part.rank_classes, 6u);
}

TEST(timeline, holds_other_stages_before_other_classes) {
    const LongRun run = recorded(4, 2, 100);
    const TimelinePart part =
        timeline_part(run.step, run.timeline, {.slices = 200, .stages = 16, .held = 500, .rows = 64});
    EXPECT_EQ(part.classes, (std::vector{RankClassId{0}, RankClassId{6}}));
    EXPECT_EQ(part.further, (std::vector{RankClassId{1}, RankClassId{2}, RankClassId{4}}))
        << "stages 1 and 2, then one";
    const TimelinePart few =
        timeline_part(run.step, run.timeline, {.slices = 200, .stages = 16, .held = 500, .rows = 3});
    EXPECT_EQ(few.further, (std::vector{RankClassId{2}}));
}

TEST(timeline, chooses_what_it_holds_evenly) {
    const LongRun run = recorded(12, 1, 100);
    const TimelinePart part =
        timeline_part(run.step, run.timeline, {.slices = 200, .stages = 16, .held = 500, .rows = 64});
    EXPECT_EQ(part.classes, (std::vector{RankClassId{0}, RankClassId{11}}));
    EXPECT_EQ(part.further, (std::vector{RankClassId{1}, RankClassId{5}, RankClassId{10}}));
}

TEST(timeline, shows_the_stages_asked_for) {
    const LongRun run = recorded(12, 2, 100);
    const TimelinePart part = timeline_part(run.step, run.timeline, {.held = 300, .asked = {3, 4}});
    EXPECT_EQ(part.classes, (std::vector{RankClassId{6}, RankClassId{8}}));
    EXPECT_EQ(part.further, (std::vector{RankClassId{0}}));
    const TimelinePart cut = timeline_part(run.step, run.timeline, {.slices = 150, .asked = {3, 4, 5}});
    EXPECT_EQ(cut.classes.size(), 3u);
    EXPECT_EQ(cut.slices, 150u);
    EXPECT_EQ(cut.left_out, 150u);
    EXPECT_THROW(timeline_part(run.step, run.timeline, {.asked = {12}}), LogicError);
}

TEST(timeline, holds_of_further_rows_what_is_in_the_part) {
    const LongRun run = recorded(4, 1, 100);
    const TimelinePart part =
        timeline_part(run.step, run.timeline, {.slices = 50, .stages = 16, .held = 100, .rows = 64});
    EXPECT_EQ(part.slices, 50u);
    EXPECT_EQ(part.further, (std::vector{RankClassId{1}, RankClassId{2}})) << "25 slices of each";
}

TEST(timeline, chooses_stages_evenly_with_the_first_and_the_last) {
    const LongRun run = recorded(9, 1, 100);
    const TimelinePart part = timeline_part(run.step, run.timeline, {.slices = 399, .stages = 16});
    EXPECT_EQ(part.classes, (std::vector{RankClassId{0}, RankClassId{4}, RankClassId{8}}));
    EXPECT_EQ(part.slices, 300u);
    EXPECT_EQ(part.left_out, 0u);
    EXPECT_EQ(timeline_part(run.step, run.timeline, {.slices = 5000, .stages = 5}).classes.size(), 5u);
}

TEST(timeline, shows_the_beginning_where_two_stages_are_too_much) {
    const LongRun run = recorded(4, 1, 100);
    const TimelinePart part = timeline_part(run.step, run.timeline, {.slices = 50, .stages = 16});
    EXPECT_EQ(part.classes, (std::vector{RankClassId{0}, RankClassId{3}}));
    EXPECT_EQ(part.until, Instant{25 * 10'000'000});  // 25 operations of each of the two
    EXPECT_EQ(part.slices, 50u);
    EXPECT_EQ(part.left_out, 150u);
}

TEST(timeline, of_one_long_stage_is_within_the_limit) {
    const LongRun run = recorded(1, 1, 1000);
    for (std::size_t limit : {1u, 7u, 999u, 1000u, 1001u}) {
        const TimelinePart part = timeline_part(run.step, run.timeline, {.slices = limit, .stages = 16});
        EXPECT_LE(part.slices, limit);
        EXPECT_EQ(part.slices + part.left_out, 1000u);
    }
}

}  // namespace
}  // namespace weft
