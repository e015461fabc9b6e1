// Whole runs of jobs: published ones, and what a run is made of.
#include "workloads/endurance/run_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

// Of 2 s, all of it but 0.5 s computing or communicating.
const std::vector<RunStretch> two_seconds{{.batch = 32, .time = {2.0}, .compute = {1.0}, .exposed = {0.5}}};

RunPlan small_run(const RunTerms& terms, const std::vector<std::string>& settings = {}) {
    return plan_run(make_plan(test::small_study(settings)), two_seconds, terms);
}

// Llama 3 405B on 16,384 H100 (arXiv 2407.21783): batches of 16 Mi tokens at 400 TFLOP/s per GPU, 6.753 s.
RunPlan llama(Saving saving) {
    const Study study = read_study(Document::parse("llama.json", R"({
        "machine": "meta-roce-h100", "framework": "megatron", "model": "llama3-405b",
        "batch": {"micro": 1, "sequence": 8192, "global": 2048},
        "layout": {"tensor": 8, "pipeline": 16, "data": 128, "virtual_stages": 8, "split": "ends"},
        "schedule": "interleaved", "sequence_parallel": true, "zero": 1, "precision": "bf16", "attention": "flash"
    })"));
    const std::vector<RunStretch> printed{{.batch = 2048, .time = {6.753}, .compute = {5.5}, .exposed = {0.5}}};
    return plan_run(make_plan(study), printed, {.time = Seconds{54 * 86400.0}, .saving = saving});
}

class llama_run : public ::testing::TestWithParam<Saving> {};

// "Higher than 90 % effective training time", 466 interruptions of which 47 planned. The mean times between failures
// are those of this very run, so the numbers test what is made of them; goodput has detection and launch of other
// papers.
TEST_P(llama_run, is_interrupted_and_gets_as_far_as_published) {
    const RunPlan plan = llama(GetParam());
    std::vector<double> interruptions, planned;
    double goodput = 0;
    constexpr std::uint64_t samples = 400;
    for (std::uint64_t i = 0; i < samples; ++i) {
        const RunSample sample = sample_run(plan.run, 1, i);
        interruptions.push_back(sample.interruptions());
        planned.push_back(sample.planned);
        goodput += sample.goodput() / samples;
    }
    std::ranges::sort(interruptions);
    std::ranges::sort(planned);
    EXPECT_LT(interruptions[samples / 20], 466);
    EXPECT_GT(interruptions[samples - samples / 20], 466);
    EXPECT_LT(planned[samples / 20], 47);
    EXPECT_GT(planned[samples - samples / 20], 47);
    EXPECT_NEAR(goodput, 0.90, 0.03);
}

INSTANTIATE_TEST_SUITE_P(savings, llama_run, ::testing::Values(Saving::synchronous, Saving::asynchronous),
                         [](const auto& test) {
                             return test.param == Saving::synchronous ? "synchronous" : "asynchronous";
                         });

TEST(run_plan, has_as_many_steps_as_tokens_or_steps_ask_for) {
    const double per_step = 32.0 * 1024;
    EXPECT_EQ(small_run({.tokens = 100 * per_step}).run.stretches.back().steps, 100U);
    EXPECT_EQ(small_run({.tokens = 100 * per_step + 1}).run.stretches.back().steps, 101U);
    EXPECT_EQ(small_run({.steps = 7}).run.stretches.back().steps, 7U);
    const RunPlan days = small_run({.time = Seconds{1000.0}});
    EXPECT_EQ(days.run.horizon, Seconds{1000.0});
    EXPECT_EQ(days.run.stretches.back().steps, 501U);
    EXPECT_EQ(days.tokens(10), 10 * per_step);
}

TEST(run_plan, a_ramp_comes_before_the_rest) {
    const std::vector<RunStretch> ramp{{.batch = 16, .steps = 10, .time = {1.0}}, {.batch = 32, .time = {2.0}}};
    const RunPlan plan = plan_run(make_plan(test::small_study()), ramp, {.tokens = 1024.0 * (16 * 10 + 32 * 5)});
    ASSERT_EQ(plan.run.stretches.size(), 2U);
    EXPECT_EQ(plan.run.stretches[1].steps, 5U);
    EXPECT_EQ(sample_run(plan.run, 1, 0).productive, Seconds{20.0});
    EXPECT_EQ(plan.tokens(11), 1024.0 * (16 * 10 + 32));
}

// Two bytes of fp16, twelve of Adam's master copy, momentum and variance: each once, whoever holds it.
TEST(run_plan, writes_every_state_once) {
    const auto written = [](std::vector<std::string> settings) {
        const Plan plan = make_plan(test::small_study(settings));
        double parameters = 0;
        for (const Stage& stage : plan.stages) parameters += stage.parameters();
        const Bytes bytes = checkpoint_costs(plan, {.write = {1e9}, .read = {1e9}}).written;
        EXPECT_NEAR(bytes.value / (14 * parameters), 1.0, 1e-9);
        return bytes.value;
    };
    const double once = written({"layout.tensor=1", "layout.data=1"});
    EXPECT_NEAR(written({"layout.tensor=1", "layout.data=8", "zero=1"}), once, 1e-6 * once);
}

TEST(run_plan, energy_follows_activity) {
    const RunPlan plan = small_run({.steps = 10});
    const DevicePower device = make_plan(test::small_study()).device.power;
    ASSERT_TRUE(plan.power && device.is_known());
    const double per_rank =
        (device.compute.value * 1.0 + device.communication.value * 0.5 + device.idle.value * 0.5) / 2;
    // 16 ranks on 2 nodes of Frontier: 450 W beside each node's accelerators, 3 % more at the site.
    EXPECT_NEAR(plan.power->working.value, (16 * per_rank + 2 * 450) * 1.03, 1e-6);
    EXPECT_NEAR(plan.power->waiting.value, (16 * device.idle.value + 2 * 450) * 1.03, 1e-6);
}

TEST(run_plan, refuses_what_gets_nowhere_and_nodes_that_are_not_there) {
    const auto refusal = [](const RunTerms& terms) -> std::string {
        try {
            static_cast<void>(small_run(terms));
        } catch (const RangeError& error) {
            return error.what();
        }
        return "none";
    };
    EXPECT_EQ(refusal({.steps = 1}), "none");
    EXPECT_THAT(refusal({.steps = 1, .launch = Seconds{1e9}}), HasSubstr("the run gets nowhere"));
    EXPECT_THAT(refusal({.steps = 1, .spares = 9407}), HasSubstr("so up to 9406"));
    EXPECT_THAT(refusal({.time = Seconds{1e23}}), HasSubstr("5e+22 steps of 2.00 s: up to 1e+15"));
    EXPECT_THAT(refusal({.tokens = 1e300}), HasSubstr("up to 1e+15"));
}

}  // namespace
}  // namespace weft
