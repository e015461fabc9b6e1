// Screening against the plan (memory, to the bit) and against simulations (time, within a bound).
#include "workloads/search/screening.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/workloads/random_jobs.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

Topology topology_of(const Study& study) { return study.machine.topology(study.job.nodes, study.job.fabric); }

StepEstimate estimate(const Study& study) {
    const Topology topology = topology_of(study);
    Screen screen(study, topology);
    EXPECT_TRUE(check_job(study.job, study.machine.info()).empty());
    screen.memory();
    return screen.estimate();
}

RC_GTEST_PROP(screening_property, finds_the_memory_of_the_plan, ()) {
    const Study study = test::small_study(test::random_job(), Purpose::equations);
    const Topology topology = topology_of(study);
    Screen screen(study, topology);
    RC_PRE(check_job(study.job, study.machine.info()).empty());
    const Plan plan = make_plan(study);
    const MemoryVerdict verdict = screen.memory();
    RC_ASSERT(verdict.peak == plan.stages[plan.fullest_stage()].memory.total());
    RC_ASSERT(verdict.fits == plan.fits());
    const Seconds bound = screen.bound();
    const StepEstimate step = screen.estimate();
    RC_ASSERT(bound > Seconds{});
    RC_ASSERT(bound <= step.time);
    RC_ASSERT(step.compute > Seconds{});
}

// What is remembered of one job says nothing wrong about another.
RC_GTEST_PROP(screening_property, does_not_depend_on_what_was_screened_before, ()) {
    const std::vector<std::string> base{"framework=megatron", "batch.global=64", "layout.data=2"};
    const auto draw = [&] {
        std::vector<std::string> settings = base;
        settings.push_back("schedule=" + test::one_of<std::string>({"1f1b", "gpipe", "zb-h1", "zb-v"}));
        settings.push_back(test::key("batch.micro", test::one_of({1U, 2U, 4U})));
        settings.push_back(test::key("zero", test::one_of({0U, 1U})));
        settings.push_back("recompute=" + test::one_of<std::string>({"none", "selective", "full"}));
        settings.push_back(test::flag("sequence_parallel"));
        settings.push_back("layout.split=" + test::one_of<std::string>({"framework", "cost"}));
        return test::small_study(settings);
    };
    const Study first = draw(), second = draw();
    const Topology topology = topology_of(first);
    Screen screen(first, topology);
    screen.memory();
    screen.bound();
    screen.estimate();
    screen.job() = second.job;
    const MemoryVerdict memory = screen.memory();
    const Seconds bound = screen.bound();
    const StepEstimate after = screen.estimate();
    Screen fresh(second, topology);
    RC_ASSERT(memory.peak == fresh.memory().peak);
    const Plan plan = make_plan(second);
    RC_ASSERT(memory.peak == plan.stages[plan.fullest_stage()].memory.total());
    RC_ASSERT(bound == fresh.bound());
    RC_ASSERT(after.time == fresh.estimate().time);
}

// Of a pipeline whose stages compute and nothing else: (m + p - 1) (F + B) in turn, and as interleaved parts fill and
// drain a part at a time, m (F + B) + (p - 1) (F + B) / v.
TEST(screening, bounds_are_the_closed_forms_of_pipelines) {
    for (const char* schedule : {"1f1b", "gpipe", "interleaved"}) {
        const Study study =
            test::small_study({"framework=megatron", "layout.pipeline=4", "layout.data=1", "batch.global=8",
                               "model.layers=16", "zero=0", "nodes=1", std::string("schedule=") + schedule,
                               "layout.virtual_stages=" + std::string(schedule[0] == 'i' ? "2" : "1")});
        const Topology topology = topology_of(study);
        Screen screen(study, topology);
        screen.memory();
        const StepEstimate step = screen.estimate();
        EXPECT_LE(screen.bound(), step.time) << schedule;
        EXPECT_GT(screen.bound(), step.time * 0.97) << schedule;
    }
}

struct Case {
    const char* what;
    std::vector<std::string> settings;
    double bound;
};

std::vector<std::string> gpt(std::vector<std::string> more) {
    more.insert(more.begin(), {"model.layers=32", "model.hidden=4096", "model.heads=32", "batch.sequence=2048"});
    return more;
}

// The bound of each is what is promised in workloads/search/README.md.
TEST(screening, is_close_to_simulations) {
    const std::vector<Case> cases{
        {"Megatron, tensor and data",
         gpt({"machine=dgx-a100", "layout.tensor=8", "layout.pipeline=1", "layout.data=4", "batch.global=64"}), 0.05},
        {"Megatron, 1F1B",
         gpt({"machine=dgx-a100", "layout.tensor=4", "layout.pipeline=8", "layout.data=2", "batch.global=64"}), 0.05},
        {"Megatron, interleaved, sequence parallelism, distributed optimizer",
         gpt({"machine=dgx-a100", "layout.tensor=8", "layout.pipeline=4", "layout.data=2", "batch.global=64",
              "schedule=interleaved", "layout.virtual_stages=2", "sequence_parallel=true", "zero=1"}),
         0.05},
        {"Megatron, interleaved, reductions and gathers under passes of other micro-batches",
         {"model.layers=64", "model.hidden=12288", "model.heads=96", "batch.sequence=2048", "machine=dgx-h100",
          "layout.tensor=8", "layout.pipeline=4", "layout.data=16", "batch.global=64", "schedule=interleaved",
          "layout.virtual_stages=8", "sequence_parallel=true", "zero=1", "overlap_gradients=true",
          "megatron.overlap_parameters=true"},
         0.05},
        {"Megatron, interleaved, chunks of one layer",
         gpt({"machine=dgx-a100", "layout.tensor=1", "layout.pipeline=2", "layout.data=8", "batch.micro=4",
              "batch.global=64", "schedule=interleaved", "layout.virtual_stages=16", "zero=1", "overlap_gradients=true",
              "megatron.overlap_parameters=true"}),
         0.05},
        {"Megatron, zero bubble V",
         gpt({"machine=dgx-a100", "layout.tensor=8", "layout.pipeline=4", "layout.data=2", "batch.global=64",
              "schedule=zb-v"}),
         0.10},
        {"Megatron, DualPipe",
         gpt({"machine=dgx-a100", "layout.tensor=8", "layout.pipeline=4", "layout.data=2", "batch.global=64",
              "schedule=dualpipe"}),
         0.10},
        {"Megatron, GPipe, context ranks, full recomputation",
         gpt({"machine=dgx-h100", "layout.tensor=2", "layout.pipeline=4", "layout.context=2", "layout.data=2",
              "batch.global=16", "schedule=gpipe", "recompute=full"}),
         0.10},
        {"Megatron, experts",
         gpt({"machine=dgx-h100", "layout.tensor=1", "layout.pipeline=4", "layout.data=8", "layout.expert=8",
              "model.experts.count=8", "batch.global=64"}),
         0.10},
        {"Megatron, experts, joint passes of DualPipe",
         gpt({"machine=dgx-h100", "layout.tensor=1", "layout.pipeline=4", "layout.data=16", "layout.expert=16",
              "model.experts.count=16", "batch.global=256", "schedule=dualpipe"}),
         0.10},
        {"Megatron, experts, joint passes of interleaved stages",
         gpt({"machine=dgx-h100", "layout.tensor=1", "layout.pipeline=4", "layout.data=16", "layout.expert=16",
              "model.experts.count=16", "batch.global=256", "schedule=interleaved", "layout.virtual_stages=2",
              "experts.overlap=passes", "megatron.version=core-0.14"}),
         0.10},
        {"DeepSpeed, 3D on Frontier",
         gpt({"framework=deepspeed", "layout.tensor=4", "layout.pipeline=4", "layout.data=4", "batch.global=64",
              "zero=1", "recompute=full"}),
         0.05},
        {"DeepSpeed, ZeRO-3 on Frontier",
         gpt({"framework=deepspeed", "layout.tensor=1", "layout.pipeline=1", "layout.data=64", "batch.global=64",
              "zero=3", "recompute=full"}),
         0.10},
        {"FSDP",
         gpt({"machine=dgx-h100", "framework=fsdp", "layout.tensor=1", "layout.pipeline=1", "layout.data=32",
              "batch.global=64", "recompute=full"}),
         0.10}};
    for (const Case& each : cases) {
        const Study study = test::small_study(each.settings);
        const StepEstimate screened = estimate(study);
        const Report report = make_report(simulate_step(study, make_plan(study)));
        const double time = report.metric("step.time_s");
        EXPECT_NEAR(screened.time.value / time, 1, each.bound)
            << each.what << fmt::format(": screened {:.4g} s, simulated {:.4g} s", screened.time.value, time);
        EXPECT_NEAR(screened.compute.value / report.metric("step.compute_s"), 1, 0.10) << each.what;
        EXPECT_NEAR((screened.compute + screened.exposed + screened.waiting).value, screened.time.value, 1e-9);
    }
}

// 27 us for each operation of layers whose kernels take a third of that.
TEST(screening, is_close_where_the_host_sets_the_pace) {
    Study study = test::small_study({"machine=dgx-h100", "layout.tensor=2", "layout.pipeline=2", "layout.data=2",
                                     "batch.global=32", "sequence_parallel=true"});
    const Seconds free = estimate(study).time;
    study.device.host_launch = {27e-6};
    const Plan plan = make_plan(study);
    ASSERT_TRUE(plan.host_bound);
    const double time = make_report(simulate_step(study, plan)).metric("step.time_s");
    const StepEstimate screened = estimate(study);
    EXPECT_GT(time, 2 * free.value);
    EXPECT_NEAR(screened.time.value / time, 1, 0.10);
}

// The node beside the crippled one has other channels with it than with a whole one.
TEST(screening, does_not_depend_on_layouts_before_where_a_link_is_dead) {
    const auto study = [](const char* pipeline, const char* data) {
        return test::small_study({"machine=dgx-a100", "layout.tensor=1", pipeline, data, "batch.global=64",
                                  R"(faults={"links": [{"node": 1, "nic": 0, "bandwidth": 0}]})"});
    };
    const Study first = study("layout.pipeline=2", "layout.data=16"),
                second = study("layout.pipeline=1", "layout.data=32");
    const Topology topology = topology_of(first);
    Screen screen(first, topology);
    for (const Study* each : {&second, &first, &second}) {
        screen.job() = each->job;
        screen.memory();
        EXPECT_EQ(screen.estimate().time, estimate(*each).time) << axes(each->job.layout);
    }
}

}  // namespace
}  // namespace weft
