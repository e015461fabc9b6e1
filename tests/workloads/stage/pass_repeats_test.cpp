// Scripts with repeated passes, against those that write every pass out.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <tuple>

#include "tests/workloads/long_hand.hpp"
#include "tests/workloads/random_jobs.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

Script written_out(const Plan& plan, std::uint32_t stage, StepKind kind) {
    const Framework framework = test::never_idle(plan);
    Plan long_hand = plan;
    long_hand.job.framework = &framework;
    return step_script(long_hand, stage, kind);
}

bool works(Action::Kind kind) {
    return kind == Action::Kind::compute || kind == Action::Kind::launch || kind == Action::Kind::store ||
           kind == Action::Kind::load;
}

// Kind, subject (as time, where it is one), what it waits for, label and place.
auto content(const Script& script, const Action& action) {
    const double work = works(action.kind) ? script.work()[action.subject].value : 0.0;
    return std::tuple(action.kind, work, works(action.kind) ? 0 : action.subject, action.after, action.label,
                      action.where.micro_batch, action.where.layer);
}

struct Comparison {
    std::string differences;
    std::size_t repeats = 0;  // computations that share the work of others
};

void compare(const Script& script, const Script& reference, Comparison& comparison) {
    const std::size_t actions = script.actions().size();
    const bool alike = actions == reference.actions().size() && script.labels() == reference.labels() &&
                       script.calls() == reference.calls();
    std::size_t same = 0;
    while (alike && same < actions &&
           content(script, script.actions()[same]) == content(reference, reference.actions()[same])) {
        ++same;
    }
    if (!alike || same < actions) comparison.differences += fmt::format("from action {} of {}\n", same, actions);
    comparison.repeats += reference.work().size() - script.work().size();
}

Comparison compare(const Plan& plan) {
    Comparison comparison;
    for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) {
        for (const StepKind kind : {StepKind::first, StepKind::steady}) {
            compare(step_script(plan, stage, kind), written_out(plan, stage, kind), comparison);
        }
    }
    return comparison;
}

RC_GTEST_PROP(pass_repeats, read_as_passes_that_are_written_out, ()) {
    test::Settings settings = test::random_job();
    settings.push_back(test::key("model.layers", test::one_of({4U, 8U, 16U})));
    try {
        Plan plan = make_plan(test::small_study(settings));
        plan.host_bound = test::one_of({false, true});
        RC_TAG("ran");
        RC_ASSERT(compare(plan).differences == "");
    } catch (const ConfigError&) {
        RC_TAG("refused");
    }
}

// One layer and two of each model part: then a pass may begin where the one before has left a computation open.
TEST(pass_repeats, are_found_under_every_schedule) {
    for (const std::string& schedule : schedule_keys()) {
        for (const char* layers : {"model.layers=8", "model.layers=16"}) {
            for (const char* tensor : {"layout.tensor=1", "layout.tensor=2"}) {
                test::Settings settings{"schedule=" + schedule, layers, tensor};
                if (schedule == "interleaved") settings.emplace_back("layout.virtual_stages=2");
                Plan plan = make_plan(test::small_study(settings));
                for (const bool bound : {false, true}) {
                    plan.host_bound = bound;
                    const Comparison comparison = compare(plan);
                    EXPECT_EQ(comparison.differences, "") << schedule << ' ' << layers << ' ' << tensor;
                    EXPECT_GT(comparison.repeats, 0U) << schedule << ' ' << layers << ' ' << tensor;
                }
            }
        }
    }
}

struct Case {
    const char* name;
    test::Settings settings;
};

TEST(pass_repeats, are_found_wherever_data_parallelism_is_idle) {
    const std::vector<Case> cases{
        {"megatron", {"framework=megatron", "zero=1", "overlap_gradients=true"}},
        {"gathers beside forward",
         {"framework=megatron", "zero=1", "overlap_gradients=true", "megatron.overlap_parameters=true"}},
        {"gathers for two model parts",
         {"framework=megatron", "zero=1", "overlap_gradients=true", "megatron.overlap_parameters=true",
          "schedule=interleaved", "layout.virtual_stages=2", "model.layers=32"}},
        {"deepspeed", {"framework=deepspeed", "zero=0"}},
        {"zero 1", {"framework=deepspeed", "zero=1"}},
        {"zero 2, forward", {"framework=deepspeed", "zero=2", "layout.pipeline=1", "layout.tensor=1"}},
        {"ddp but for autocast", {"framework=ddp", "modules=framework", "layout.pipeline=1", "layout.tensor=1"}},
    };
    for (const Case& one : cases) {
        const Comparison comparison = compare(make_plan(test::small_study(one.settings)));
        EXPECT_EQ(comparison.differences, "") << one.name;
        EXPECT_GT(comparison.repeats, 0U) << one.name;
    }
}

}  // namespace
}  // namespace weft
