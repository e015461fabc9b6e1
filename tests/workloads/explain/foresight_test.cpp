#include "workloads/explain/explanation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <vector>

#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

struct Foreseen {
    explicit Foreseen(const Study& of)
        : study(of),
          step(simulate_to_explain(study, {.folding = Folding::stages}, prepare(study))),
          twins(step.run.plan, step.folded),
          explanation(explain(study, step)),
          foresight(study, step, twins, explanation) {}

    Seconds own() const { return since_start(explanation.end); }
    Seconds simulated(const WhatIf& change) {
        return simulate_what_if(change, study, step.folded, twins, {}, *step.run.prepared);
    }

    Study study;
    ExplainedStep step;
    OtherDevices twins;
    Explanation explanation;
    Foresight foresight;
};

std::vector<Study> shipped_studies() {
    std::vector<Study> studies;
    for (const auto& entry : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/workloads/jobs")) {
        if (entry.path().extension() == ".json") studies.push_back(load_study(entry.path()));
    }
    return studies;
}

constexpr double worth_a_look = 1e-3;  // of the step: what a limit that is 10 % higher saves

// All limits of the device, and all classes of links where nothing on the path is shared.
TEST(foresight, to_first_order_is_what_a_little_gives) {
    std::size_t looked_at = 0;
    for (const Study& study : shipped_studies()) {
        Foreseen it(study);
        for (const WhatIf& change : what_ifs(study, it.step, it.explanation)) {
            if (!change.slight || it.foresight.undecided(change).value > 0.0) continue;
            const std::optional<OtherTimes> times = it.foresight.times(change);
            ASSERT_TRUE(times);
            const Seconds promised = it.own() - it.foresight.first_order(*times);
            if (promised < it.own() * worth_a_look) continue;
            const Seconds simulated = it.simulated(change);
            EXPECT_NEAR(simulated / it.foresight.first_order(*times), 1.0, 0.02)
                << study.job.name << ", " << change.knob;
            // Of the saving itself; shorter calls beside computation interfere less, which no path tells.
            if (change.device) {
                EXPECT_NEAR((it.own() - simulated) / promised, 1.0, 0.1) << study.job.name << ", " << change.knob;
            }
            ++looked_at;
        }
    }
    EXPECT_GT(looked_at, 30U);
}

TEST(foresight, replays_what_twice_as_much_gives) {
    std::size_t looked_at = 0;
    for (const Study& study : shipped_studies()) {
        Foreseen it(study);
        for (const WhatIf& change : what_ifs(study, it.step, it.explanation)) {
            const std::optional<OtherTimes> times = it.foresight.times(change);
            if (!times || change.slight || it.foresight.undecided(change).value > 0.0) continue;
            EXPECT_NEAR(it.simulated(change) / it.foresight.replayed(*times), 1.0, 0.02)
                << study.job.name << ", " << change.knob << ' ' << change.change;
            ++looked_at;
        }
    }
    EXPECT_GT(looked_at, 50U);
}

TEST(foresight, replays_a_step_as_it_was) {
    const Foreseen it(test::small_study());
    EXPECT_EQ(it.foresight.replayed({}).value, it.own().value);
    EXPECT_EQ(it.foresight.first_order({}).value, it.own().value);
}

}  // namespace
}  // namespace weft
