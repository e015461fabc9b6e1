#include "workloads/explain/device_twin.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "tests/workloads/random_jobs.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/explain/device_limit.hpp"
#include "workloads/explain/explanation.hpp"

namespace weft {
namespace {

// Built in full for the other device, op by op.
RC_GTEST_PROP(device_twin, has_the_work_of_a_step_built_for_it, ()) {
    try {
        const Study study = test::small_study(test::random_job());
        const ExplainedStep step = simulate_to_explain(study, {.folding = Folding::stages}, prepare(study));
        Study changed = study;
        const auto limit = *rc::gen::inRange<std::size_t>(0, device_limits().size());
        device_limits()[limit].speed_up(changed.device, 1.5);
        const std::optional<std::vector<Seconds>> work = DeviceTwins(step.run.plan, step.folded).work(changed);
        RC_ASSERT(work.has_value());
        Plan plan = make_plan(changed);
        plan.host_bound = step.run.plan.host_bound;
        const Program other = build_step(plan, step.run.prepared->costs(plan), {.folding = Folding::stages}).program;
        const Program& own = step.folded.program;
        RC_ASSERT(other.ops.size() == own.ops.size());
        for (OpId op{}; op != own.ops.end_id(); op = next(op)) {
            if (own.ops[op].kind != OpKind::compute) continue;
            const double expected = other.work[other.ops[op].subject].value;
            RC_ASSERT(std::abs((*work)[own.ops[op].subject].value - expected) <= 1e-9 * expected);
        }
    } catch (const ConfigError&) {
        RC_TAG("refused");
    }
}

TEST(device_twin, of_the_same_device_has_the_same_work) {
    const Study study = test::small_study();
    const ExplainedStep step = simulate_to_explain(study, {}, prepare(study));
    const std::optional<std::vector<Seconds>> work = DeviceTwins(step.run.plan, step.folded).work(study);
    ASSERT_TRUE(work);
    ASSERT_EQ(work->size(), step.folded.program.work.size());
    for (std::size_t i = 0; i < work->size(); ++i) EXPECT_EQ((*work)[i].value, step.folded.program.work[i].value);
}

}  // namespace
}  // namespace weft
