#include "tools/output/timeline_svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/tools/output/two_stages.hpp"

namespace weft {
namespace {

using testing::ElementsAre;
using testing_support::at;
using testing_support::compute_lane;
using testing_support::Recorded;
using testing_support::two_stages;

TEST(activity, a_row_tells_computation_from_communication_and_waiting_from_both) {
    const Recorded run = two_stages();  // 7 us: one bin per microsecond
    const ActivityRow sender = activity_row(run.program, run.timeline, RankClassId{0}, 7);
    EXPECT_THAT(sender.compute, ElementsAre(ActivityRun{0, 3, Activity::forward}));
    EXPECT_THAT(sender.communication, ElementsAre(ActivityRun{3, 1, Activity::communication}));
    const ActivityRow receiver = activity_row(run.program, run.timeline, RankClassId{1}, 7);
    EXPECT_THAT(receiver.compute, ElementsAre(ActivityRun{4, 3, Activity::forward}));
    EXPECT_THAT(receiver.communication, ElementsAre(ActivityRun{3, 1, Activity::communication}));
}

// Each computation is given as label, begin and end in femtoseconds, of ten.
ActivityRow row_of(const std::vector<std::tuple<std::string, int, int>>& work, std::size_t bins) {
    ProgramBuilder builder({"compute"});
    builder.begin_class("rank", RankId(0), 1);
    Timeline timeline;
    for (const auto& [label, begin, end] : work) {
        builder.add({OpKind::compute, compute_lane, builder.label(label), builder.work({}), 0, 0}, {});
        timeline.spans.push_back({at(begin), at(begin), at(end)});
    }
    timeline.end = at(10);
    return activity_row(builder.finish(), timeline, RankClassId{0}, bins);
}

TEST(activity, is_told_by_the_first_word_of_a_label) {
    const ActivityRow row = row_of({{"forward layer", 0, 2},
                                    {"recompute layer", 2, 4},
                                    {"backward head", 4, 6},
                                    {"optimizer", 6, 8},
                                    {"something else", 8, 10}},
                                   5);
    EXPECT_THAT(row.compute, ElementsAre(ActivityRun{0, 1, Activity::forward}, ActivityRun{1, 1, Activity::recompute},
                                         ActivityRun{2, 1, Activity::backward}, ActivityRun{3, 1, Activity::optimizer},
                                         ActivityRun{4, 1, Activity::other}));
}

TEST(activity, a_bin_shows_what_fills_most_of_it_and_how_full_it_is) {
    // The first bin: 1 of 5 forward, 2 of 5 backward: three fifths, nearly half. The second is idle but for a tenth.
    const ActivityRow row = row_of({{"forward", 0, 1}, {"backward", 1, 3}}, 2);
    EXPECT_THAT(row.compute, ElementsAre(ActivityRun{0, 1, Activity::backward, 2}));
}

TEST(activity, many_tiny_operations_become_one_run) {
    std::vector<std::tuple<std::string, int, int>> work;
    for (int i = 0; i < 10; ++i) work.emplace_back("forward", i, i + 1);
    EXPECT_THAT(row_of(work, 4).compute, ElementsAre(ActivityRun{0, 4, Activity::forward}));
}

}  // namespace
}  // namespace weft
