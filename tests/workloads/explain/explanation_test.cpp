#include "workloads/explain/explanation.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "tests/workloads/random_jobs.hpp"
#include "tests/workloads/studies.hpp"

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
    ASSERT_FALSE(found.stretches.empty());
    for (std::size_t i = 1; i < found.stretches.size(); ++i) {
        const PathStretch &before = found.stretches[i - 1], &own = found.stretches[i];
        EXPECT_GE(before.end.femtoseconds - before.begin.femtoseconds, own.end.femtoseconds - own.begin.femtoseconds);
    }
    EXPECT_NE(found.stretches.front().text.find("computes backward, forward"), std::string::npos)
        << found.stretches.front().text;
}

TEST(what_if, a_change_of_nothing_changes_nothing) {
    const Study study = test::small_study();
    const ExplainedStep step = step_of(study);
    EXPECT_EQ(simulate_what_if({}, study, step.folded, OtherDevices(step.run.plan, step.folded), {}, *step.run.prepared)
                  .value,
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
        const OtherDevices twins(step.run.plan, step.folded);
        const double alone = simulate_what_if(change, study, step.folded, twins, {}, *step.run.prepared).value;
        EXPECT_GE(alone, busiest.value * (1 - 1e-9));
        EXPECT_LE(alone, busiest.value * 1.05);  // and calls of the whole step
        return;
    }
    FAIL() << "a pipeline without a bubble to ask about";
}

}  // namespace
}  // namespace weft
