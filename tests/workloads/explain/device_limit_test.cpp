#include "workloads/explain/explanation.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "tests/workloads/random_jobs.hpp"
#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

// Built in full for the other device, op by op. Computations that take the same time on the device are one entry; few
// of those differ on the other.
RC_GTEST_PROP(device_limit, has_the_work_of_a_step_built_for_it, ()) {
    try {
        const Study study = test::small_study(test::random_job());
        const ExplainedStep step = simulate_to_explain(study, {.folding = Folding::stages}, prepare(study));
        Study changed = study;
        const auto limit = *rc::gen::inRange<std::size_t>(0, device_limits().size());
        device_limits()[limit].speed_up(changed.device, 1.5);
        const std::optional<std::vector<Seconds>> work = OtherDevices(step.run.plan, step.folded).work(changed);
        RC_ASSERT(work.has_value());
        Plan plan = make_plan(changed);
        plan.host_bound = step.run.plan.host_bound;
        const Program other = build_step(plan, step.run.prepared->costs(plan), {.folding = Folding::stages}).program;
        const Program& own = step.folded.program;
        RC_ASSERT(other.ops.size() == own.ops.size());
        std::map<std::uint32_t, std::vector<double>> expected;  // by entry, of all its ops
        for (OpId op{}; op != own.ops.end_id(); op = next(op)) {
            if (own.ops[op].kind != OpKind::compute) continue;
            expected[own.ops[op].subject].push_back(other.work[other.ops[op].subject].value);
        }
        std::size_t apart = 0;
        for (const auto& [entry, times] : expected) {
            const double time = (*work)[entry].value;
            const auto is_it = [time](double each) { return std::abs(time - each) <= 1e-9 * each; };
            RC_ASSERT(std::ranges::any_of(times, is_it));
            if (!std::ranges::all_of(times, is_it)) ++apart;
        }
        RC_ASSERT(20 * apart <= expected.size() + 20);
    } catch (const ConfigError&) {
        RC_TAG("refused");
    }
}

TEST(device_limit, of_the_same_device_has_the_same_work) {
    const Study study = test::small_study();
    const ExplainedStep step = simulate_to_explain(study, {}, prepare(study));
    const std::optional<std::vector<Seconds>> work = OtherDevices(step.run.plan, step.folded).work(study);
    ASSERT_TRUE(work);
    ASSERT_EQ(work->size(), step.folded.program.work.size());
    for (std::size_t i = 0; i < work->size(); ++i) EXPECT_EQ((*work)[i].value, step.folded.program.work[i].value);
}

}  // namespace
}  // namespace weft
