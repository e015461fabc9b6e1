#include "workloads/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace weft {
namespace {

using Case = std::tuple<const Schedule*, std::uint32_t, std::uint32_t>;  // schedule, stages, micro-batches

struct Execution {
    double end = 0, busy = 0;
    bool finished = true;
};

// Runs the slots of all stages with free communication: a forward waits for the same micro-batch on the stage before,
// a backward for it on the stage after (or for its own forward on the last stage).
Execution execute(const Schedule& schedule, std::uint32_t stages, std::uint32_t micro_batches, double forward,
                  double backward) {
    std::vector<std::vector<Slot>> slots;
    for (std::uint32_t s = 0; s < stages; ++s) slots.push_back(schedule.slots({stages, micro_batches, 1}, s));
    std::vector<std::size_t> done(stages, 0);
    std::vector<double> clock(stages, 0);
    std::vector<std::vector<double>> forward_end(stages, std::vector<double>(micro_batches, -1)),
        backward_end = forward_end;
    Execution run;
    for (bool progress = true; progress;) {
        progress = false;
        for (std::uint32_t s = 0; s < stages; ++s) {
            while (done[s] < slots[s].size()) {
                const Slot slot = slots[s][done[s]];
                const bool ahead = slot.kind == SlotKind::forward;
                const double ready = ahead ? (s == 0 ? 0 : forward_end[s - 1][slot.micro_batch])
                                           : (s + 1 == stages ? forward_end[s][slot.micro_batch]
                                                              : backward_end[s + 1][slot.micro_batch]);
                if (ready < 0 || (!ahead && forward_end[s][slot.micro_batch] < 0)) break;
                clock[s] = std::max(clock[s], ready) + (ahead ? forward : backward);
                (ahead ? forward_end : backward_end)[s][slot.micro_batch] = clock[s];
                run.end = std::max(run.end, clock[s]);
                ++done[s];
                progress = true;
            }
        }
    }
    run.busy = micro_batches * (forward + backward);
    for (std::uint32_t s = 0; s < stages; ++s) run.finished = run.finished && done[s] == slots[s].size();
    return run;
}

class schedules : public testing::TestWithParam<Case> {};

TEST_P(schedules, run_every_micro_batch_once_forward_and_once_backward_on_every_stage) {
    const auto [schedule, stages, micro_batches] = GetParam();
    for (std::uint32_t s = 0; s < stages; ++s) {
        const std::vector<Slot> slots = schedule->slots({stages, micro_batches, 1}, s);
        ASSERT_EQ(slots.size(), 2U * micro_batches);
        for (std::uint32_t m = 0; m < micro_batches; ++m) {
            const auto forward = std::ranges::find(slots, Slot{SlotKind::forward, m});
            const auto backward = std::ranges::find(slots, Slot{SlotKind::backward, m});
            ASSERT_TRUE(forward != slots.end() && backward != slots.end());
            EXPECT_LT(forward, backward);
        }
    }
}

// (p - 1)(F + B) of waiting for both GPipe and 1F1B: bubble fraction (p - 1) / (m + p - 1).
TEST_P(schedules, have_the_closed_form_bubble) {
    const auto [schedule, stages, micro_batches] = GetParam();
    const Execution run = execute(*schedule, stages, micro_batches, 1.0, 2.0);
    ASSERT_TRUE(run.finished) << "the slots wait for one another";
    EXPECT_DOUBLE_EQ((run.end - run.busy) / run.end, (stages - 1.0) / (micro_batches + stages - 1.0));
}

TEST_P(schedules, hold_the_activations_that_their_papers_say) {
    const auto [schedule, stages, micro_batches] = GetParam();
    for (std::uint32_t s = 0; s < stages; ++s) {
        const std::uint32_t expected = schedule->key == "gpipe" ? micro_batches : std::min(stages - s, micro_batches);
        EXPECT_EQ(peak_in_flight(schedule->slots({stages, micro_batches, 1}, s)), expected);
    }
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
    const auto& [schedule, stages, micro_batches] = info.param;
    return "s" + std::string(schedule->key) + "_p" + std::to_string(stages) + "_m" + std::to_string(micro_batches);
}

INSTANTIATE_TEST_SUITE_P(all, schedules,
                         testing::Combine(testing::ValuesIn(schedule::all().begin(), schedule::all().end()),
                                          testing::Values(1U, 2U, 3U, 4U, 8U, 16U),
                                          testing::Values(1U, 2U, 5U, 8U, 32U)),
                         case_name);

TEST(schedule, keys_are_those_of_the_job_file) {
    EXPECT_NE(find_schedule("1f1b"), nullptr);
    EXPECT_NE(find_schedule("gpipe"), nullptr);
    EXPECT_EQ(find_schedule("2f2b"), nullptr);
}

}  // namespace
}  // namespace weft
