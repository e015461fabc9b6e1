// Steps whose repeated passes are routines of the program, against those that have every op written out.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "sim/engine/timeline.hpp"
#include "tests/workloads/long_hand.hpp"
#include "tests/workloads/random_jobs.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

auto content(const Program& program, const Op& op) {
    const double work = op.kind == OpKind::compute ? program.work[op.subject].value : 0.0;
    const std::uint32_t exchange = op.kind == OpKind::exchange ? op.subject : 0;
    return std::tuple(op.kind, op.lane, program.labels[index(op.label)], work, exchange, op.index, op.part);
}

bool equal(const Program& a, const Program& b) {
    if (a.ops.size() != b.ops.size()) return false;
    for (OpId op{}; op != a.ops.end_id(); op = next(op)) {
        if (content(a, a.ops[op]) != content(b, b.ops[op])) return false;
    }
    return std::ranges::equal(a.classes, b.classes,
                              [](const RankClass& x, const RankClass& y) {
                                  return x.name == y.name && x.first_op == y.first_op && x.ops == y.ops;
                              }) &&
           std::ranges::equal(a.exchanges, b.exchanges, [](const Exchange& x, const Exchange& y) {
               return x.communication == y.communication && x.parties == y.parties;
           });
}

bool equal(const Timeline& a, const Timeline& b) {
    return a.end == b.end && a.events == b.events &&
           std::ranges::equal(a.spans, b.spans, [](const Span& x, const Span& y) {
               return x.posted == y.posted && x.begin == y.begin && x.end == y.end;
           });
}

// All times of a report.
std::vector<double> times(const Report& report) {
    std::vector<double> found;
    for (const Metric& metric : report.metrics) found.push_back(metric.value);
    for (const StageReport& stage : report.stages) {
        for (const Seconds time : {stage.compute, stage.optimizer, stage.exposed, stage.idle})
            found.push_back(time.value);
    }
    for (const CommunicationReport& kind : report.communication) {
        for (const double value : {kind.calls, kind.bytes.value, kind.time.value, kind.exposed.value}) {
            found.push_back(value);
        }
    }
    return found;
}

struct Runs {
    Simulation sums, ops, long_hand;
};

Runs simulate_three_ways(const Study& study, Folding folding) {
    const Plan plan = make_plan(study);
    const Framework framework = test::never_idle(plan);
    Plan long_hand = plan;
    long_hand.job.framework = &framework;
    return {simulate_step(study, plan, {.folding = folding, .kept = Kept::sums}),
            simulate_step(study, plan, {.folding = folding, .kept = Kept::ops}),
            simulate_step(study, long_hand, {.folding = folding, .kept = Kept::ops})};
}

RC_GTEST_PROP(routines, take_the_times_of_ops_that_are_written_out, ()) {
    test::Settings settings = test::random_job();
    settings.push_back(test::key("model.layers", test::one_of({4U, 8U, 16U})));
    settings.push_back(test::key("batch.global", test::one_of({16U, 32U, 64U})));
    if (test::one_of({false, true})) settings.push_back("faults.jitter={\"spread\": 0.1}");
    try {
        const Runs runs = simulate_three_ways(test::small_study(settings),
                                              test::one_of({Folding::stages, Folding::exact, Folding::none}));
        const std::size_t routines = runs.sums.step.program.routines.size();
        RC_TAG(routines > 0 ? "has routines" : "has none");
        RC_ASSERT(runs.ops.step.program.routines.empty());
        RC_ASSERT(equal(runs.ops.step.program, runs.long_hand.step.program));
        RC_ASSERT(equal(runs.ops.timeline, runs.long_hand.timeline));
        RC_ASSERT(times(make_report(runs.sums)) == times(make_report(runs.ops)));
    } catch (const ConfigError&) {
        RC_TAG("refused");
    }
}

struct Case {
    const char* name;
    test::Settings settings;
};

TEST(routines, hold_most_ops_of_many_micro_batches) {
    const std::vector<Case> cases{
        {"tensor ranks", {"framework=megatron", "layout.tensor=2", "layout.pipeline=2"}},
        {"sequence parallelism", {"framework=megatron", "layout.tensor=2", "sequence_parallel=true"}},
        {"two model parts",
         {"framework=megatron", "layout.tensor=2", "layout.pipeline=2", "schedule=interleaved",
          "layout.virtual_stages=2"}},
        {"split backward passes", {"framework=megatron", "layout.tensor=2", "layout.pipeline=2", "schedule=zb-h1"}},
        {"deepspeed", {"framework=deepspeed", "zero=1", "layout.tensor=2", "layout.pipeline=2"}},
    };
    for (const Case& one : cases) {
        test::Settings settings = one.settings;
        settings.insert(settings.end(), {"model.layers=16", "batch.global=64"});
        const Study study = test::small_study(settings);
        const Simulation run = simulate_step(study, make_plan(study), {.kept = Kept::sums});
        const std::size_t written = run.step.program.ops.size(), all = unfold(run.step.program).ops.size();
        EXPECT_LT(written * 2, all) << one.name << ": " << written << " of " << all;
    }
}

// Neither other classes in their exchanges nor times of their own for every computation need each written out.
TEST(routines, hold_most_ops_of_ranks_that_are_all_different) {
    for (const char* faults : {"faults={}", "faults.jitter={\"spread\": 0.1}"}) {
        const Study study = test::small_study({"framework=megatron", "layout.tensor=2", "layout.pipeline=2",
                                               "model.layers=16", "batch.global=64", faults});
        const Simulation run = simulate_step(study, make_plan(study), {.folding = Folding::none, .kept = Kept::sums});
        const std::size_t written = run.step.program.ops.size(), all = unfold(run.step.program).ops.size();
        EXPECT_LT(written * 3, all) << faults << ": " << written << " of " << all;
    }
}

}  // namespace
}  // namespace weft
