#include "workloads/explain/explanation.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "tests/workloads/random_jobs.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/explain/what_if.hpp"

namespace weft {
namespace {

ExplainedStep step_of(const Study& study, Folding folding = Folding::stages) {
    return simulate_to_explain(study, {.folding = folding}, prepare(study));
}

std::int64_t ticks_of(const Explanation& explanation) {
    std::int64_t sum = 0;
    for (const ExplainedCause& each : explanation.causes) sum += each.ticks;
    return sum;
}

std::int64_t ticks_of(const Explanation& explanation, std::string_view cause) {
    std::int64_t sum = 0;
    for (const ExplainedCause& each : explanation.causes) sum += each.cause.name == cause ? each.ticks : 0;
    return sum;
}

std::vector<std::filesystem::path> shipped_jobs() {
    std::vector<std::filesystem::path> jobs;
    for (const auto& entry : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/workloads/jobs")) {
        if (entry.path().extension() == ".json") jobs.push_back(entry.path());
    }
    return jobs;
}

RC_GTEST_PROP(explanation, causes_sum_to_the_step_to_the_tick, ()) {
    try {
        const Study study = test::small_study(test::random_job());
        const ExplainedStep step = step_of(study, test::one_of({Folding::stages, Folding::exact}));
        const Explanation found = explain(study, step);
        RC_ASSERT(found.end == step.run.timeline.end);
        RC_ASSERT(ticks_of(found) == found.end.femtoseconds);
        for (const ExplainedCause& each : found.causes) {
            RC_ASSERT(each.ticks > 0);
            RC_ASSERT(each.elsewhere >= 0 && each.elsewhere <= each.ticks);
        }
    } catch (const ConfigError&) {
        RC_TAG("refused");
    }
}

// To first order, a limit that is a little higher gives what the path spends at it.
TEST(explanation, of_shipped_jobs_says_what_a_higher_limit_gives) {
    for (const std::filesystem::path& job : shipped_jobs()) {
        const Study study = load_study(job);
        const ExplainedStep step = step_of(study);
        const Explanation found = explain(study, step);
        const DeviceLimit& limit = device_limits().front();
        const std::int64_t spent = ticks_of(found, limit.cause);
        ASSERT_GT(spent, 0) << job;
        constexpr double higher = 1.001;
        const WhatIf change{
            .knob = {}, .change = {}, .study = [&](Study& changed) { limit.speed_up(changed.device, higher); }};
        const Seconds changed = simulate_what_if(change, study, step.folded, {}, *step.run.prepared);
        const Seconds promised = since_start({spent}) * (1.0 - 1.0 / higher);
        EXPECT_NEAR((since_start(found.end) - changed) / promised, 1.0, 0.02) << job;
    }
}

TEST(explanation, of_free_communication_has_none) {
    const Study study = test::small_study();
    const ExplainedStep step = simulate_to_explain(study, {.network = NetworkKind::free}, prepare(study));
    for (const ExplainedCause& each : explain(study, step).causes) EXPECT_EQ(each.cause.dimension, "");
}

TEST(explanation, of_layers_at_the_hosts_pace_names_the_host) {
    Study study = test::small_study({"batch.sequence=64"});
    study.device.host_launch = Seconds{50e-6};
    const Explanation found = explain(study, step_of(study));
    EXPECT_EQ(found.causes.front().cause.name, "waiting for the host");
}

TEST(explanation, tells_the_longest_passages_first) {
    const Study study = test::small_study();
    const ExplainedStep step = step_of(study);
    const Explanation found = explain(study, step);
    ASSERT_FALSE(found.passages.empty());
    for (std::size_t i = 1; i < found.passages.size(); ++i) {
        const PathPassage &before = found.passages[i - 1], &own = found.passages[i];
        EXPECT_GE(before.end.femtoseconds - before.begin.femtoseconds, own.end.femtoseconds - own.begin.femtoseconds);
    }
    EXPECT_NE(found.passages.front().text.find("computes backward, forward"), std::string::npos)
        << found.passages.front().text;
}

TEST(what_if, a_change_of_nothing_changes_nothing) {
    const Study study = test::small_study();
    const ExplainedStep step = step_of(study);
    EXPECT_EQ(simulate_what_if({}, study, step.folded, {}, *step.run.prepared).value,
              since_start(step.run.timeline.end).value);
}

TEST(what_if, without_the_pipelines_waiting_the_busiest_stage_alone_is_left) {
    const Study study = test::small_study({"layout.tensor=1", "layout.data=1", "layout.pipeline=8"});
    const ExplainedStep step = step_of(study);
    const Explanation found = explain(study, step);
    for (const WhatIf& change : what_ifs(study, step, found)) {
        if (change.knob != "pipeline bubble") continue;
        Seconds busiest;
        const Program& program = step.run.step.program;
        for (const RankClass& rank_class : program.classes) {
            Seconds busy;
            for (OpId op{rank_class.first_op}; index(op) < rank_class.end_op(); op = next(op)) {
                if (program.ops[op].kind == OpKind::compute) busy += program.work[program.ops[op].subject];
            }
            busiest = std::max(busiest, busy);
        }
        const double alone = simulate_what_if(change, study, step.folded, {}, *step.run.prepared).value;
        EXPECT_GE(alone, busiest.value * (1 - 1e-9));
        EXPECT_LE(alone, busiest.value * 1.05);  // and calls of the whole step
        return;
    }
    FAIL() << "a pipeline without a bubble to ask about";
}

}  // namespace
}  // namespace weft
