// Whole steps: properties that hold for every layout, framework and schedule.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

Simulation run(const Study& study, SimulationOptions options = {}) {
    return simulate_step(study, make_plan(study), options);
}

std::vector<std::string> settings(const std::string& framework, const std::string& schedule, std::uint32_t tensor,
                                  std::uint32_t pipeline, std::uint32_t data, std::uint32_t micro_batches) {
    return {"framework=" + framework,
            "schedule=" + schedule,
            "layout.tensor=" + std::to_string(tensor),
            "layout.pipeline=" + std::to_string(pipeline),
            "layout.data=" + std::to_string(data),
            "batch.global=" + std::to_string(data * micro_batches)};
}

double relative(double a, double b) { return std::abs(a - b) / std::max(std::abs(a), std::abs(b)); }

using Layouts = std::tuple<std::string, std::string, std::uint32_t, std::uint32_t, std::uint32_t>;

class every_layout : public testing::TestWithParam<Layouts> {
  protected:
    Study study(std::uint32_t data) const {
        const auto& [framework, schedule, tensor, pipeline, micro_batches] = GetParam();
        return test::small_study(settings(framework, schedule, tensor, pipeline, data, micro_batches));
    }
};

// Blocking calls in the wrong order would wait for one another; running to the end is the proof that none do.
TEST_P(every_layout, runs_to_the_end_and_its_parts_add_up) {
    const Report report = make_report(run(study(2)));
    const double step = report.metric("step.time_s");
    EXPECT_GT(step, 0);
    EXPECT_NEAR(report.metric("step.compute_s") + report.metric("step.exposed_communication_s") +
                    report.metric("step.bubble_s") + report.metric("step.imbalance_s"),
                step, 1e-9 * step);
    for (const StageReport& c : report.stages) {
        EXPECT_NEAR((c.compute + c.exposed + c.idle).value, step, 1e-9 * step) << c.name;
    }
}

TEST_P(every_layout, is_never_faster_than_the_roofline) {
    const Study s = study(1);
    const Simulation simulation = run(s);
    const Report report = make_report(simulation);
    const Seconds roofline = simulation.plan.hardware_flops / s.device.peak(s.job.precision) / s.job.layout.ranks();
    EXPECT_GE(report.metric("step.compute_s"), roofline.value);
    EXPECT_LE(report.metric("throughput.mfu"), 1.0);
}

TEST_P(every_layout, contention_and_latency_never_help) {
    const Study s = study(2);
    const double free = since_start(run(s, {.network = NetworkKind::free}).timeline.end).value;
    const double ideal = since_start(run(s, {.network = NetworkKind::ideal}).timeline.end).value;
    const double flow = since_start(run(s, {.network = NetworkKind::flow}).timeline.end).value;
    EXPECT_LE(free, ideal);
    EXPECT_LE(ideal, flow * (1 + 1e-12));
}

// With free communication and equal stages the pipeline waits (p - 1) slots out of m + p - 1. The embedding and the
// head make the end stages a little longer, which is all the tolerance is for.
TEST_P(every_layout, has_the_closed_form_bubble_when_communication_is_free) {
    const auto& [framework, schedule, tensor, pipeline, micro_batches] = GetParam();
    auto own = settings(framework, schedule, tensor, pipeline, 1, micro_batches);
    own.insert(own.end(), {"layout.split=even", "model.layers=64", "model.hidden=4096", "model.vocabulary=128"});
    const Report report = make_report(run(test::small_study(own), {.network = NetworkKind::free}));
    const double expected = (pipeline - 1.0) / (micro_batches + pipeline - 1.0);
    const double pipelined = report.metric("step.time_s") - report.metric("step.optimizer_s");
    EXPECT_NEAR((report.metric("step.bubble_s") + report.metric("step.imbalance_s")) / pipelined, expected,
                0.01 * expected + 1e-12);
}

std::string case_name(const testing::TestParamInfo<Layouts>& info) {
    const auto& [framework, schedule, tensor, pipeline, micro_batches] = info.param;
    return framework + "_" + schedule + "_t" + std::to_string(tensor) + "_p" + std::to_string(pipeline) + "_m" +
           std::to_string(micro_batches);
}

INSTANTIATE_TEST_SUITE_P(grid, every_layout,
                         testing::Combine(testing::Values("deepspeed", "megatron"), testing::Values("1f1b", "gpipe"),
                                          testing::Values(1U, 2U, 4U), testing::Values(1U, 2U, 4U, 8U),
                                          testing::Values(1U, 2U, 5U, 16U)),
                         case_name);

TEST(step, runs_twice_to_the_same_tick) {
    const Study study = test::small_study({"framework=deepspeed", "zero=1"});
    const Simulation first = run(study), second = run(study);
    ASSERT_EQ(first.timeline.spans.size(), second.timeline.spans.size());
    for (OpId op{}; op != first.timeline.spans.end_id(); op = next(op)) {
        ASSERT_EQ(first.timeline.spans[op].begin, second.timeline.spans[op].begin);
        ASSERT_EQ(first.timeline.spans[op].end, second.timeline.spans[op].end);
    }
    EXPECT_EQ(first.timeline.events, second.timeline.events);
}

struct FoldingCase {
    std::string machine, framework;
    std::uint32_t tensor, pipeline, data;
};

std::vector<FoldingCase> folding_cases(const std::vector<std::string>& machines) {
    std::vector<FoldingCase> cases;
    for (const std::string& machine : machines) {
        for (const char* framework : {"deepspeed", "megatron"}) {
            for (const auto& [t, p, d] :
                 {std::tuple{2U, 4U, 4U}, {8U, 2U, 2U}, {4U, 2U, 4U}, {1U, 4U, 8U}, {1U, 1U, 32U}}) {
                cases.push_back({machine, framework, t, p, d});
            }
        }
    }
    return cases;
}

Study folding_study(const FoldingCase& c) {
    auto own = settings(c.framework, "1f1b", c.tensor, c.pipeline, c.data, 4);
    own.insert(own.end(), {"machine=" + c.machine, "zero=1"});
    return test::small_study(own);
}

std::string text(const FoldingCase& c) {
    return c.machine + ", " + c.framework + ", t" + std::to_string(c.tensor) + " p" + std::to_string(c.pipeline) +
           " d" + std::to_string(c.data);
}

// Where all ranks of a stage sit alike (every accelerator of a DGX has its own NIC), the stage is one class exactly.
TEST(step, folding_is_exact_where_placement_is_symmetric) {
    for (const FoldingCase& c : folding_cases({"dgx-a100", "dgx-h100"})) {
        const Study study = folding_study(c);
        const Report folded = make_report(run(study));
        const Report unfolded = make_report(run(study, {.folding = Folding::none}));
        ASSERT_EQ(unfolded.classes, c.tensor * c.pipeline * c.data);
        for (std::size_t i = 0; i < folded.metrics.size(); ++i) {
            const double a = folded.metrics[i].value, b = unfolded.metrics[i].value;
            EXPECT_TRUE(std::abs(a - b) < 1e-12 || relative(a, b) < 1e-9)
                << text(c) << " " << folded.metrics[i].key << ": " << a << " vs " << b;
        }
    }
}

// On a MI250X node odd GCDs sit nearer to a NIC than even ones: the stage then goes at the pace of its slowest group,
// which is a bound, and a close one.
TEST(step, folding_bounds_an_asymmetric_placement_from_above) {
    for (const FoldingCase& c : folding_cases({"frontier", "lumi-g"})) {
        const Study study = folding_study(c);
        const double folded = since_start(run(study).timeline.end).value;
        const double unfolded = since_start(run(study, {.folding = Folding::none}).timeline.end).value;
        EXPECT_GE(folded, unfolded * (1 - 1e-9)) << text(c);
        EXPECT_LE(folded, unfolded * 1.002) << text(c);
    }
}

TEST(step, any_rank_order_is_accepted_and_tensor_innermost_is_fastest) {
    const auto time = [](const std::string& order) {
        return since_start(run(test::small_study(
                                   {"layout.tensor=8", "layout.data=4", "layout.pipeline=2", "layout.order=" + order}))
                               .timeline.end)
            .value;
    };
    const double inside = time("tensor,data,pipeline");
    for (const char* order : {"tensor,pipeline,data", "data,tensor,pipeline", "data,pipeline,tensor",
                              "pipeline,tensor,data", "pipeline,data,tensor"}) {
        EXPECT_GE(time(order), inside * (1 - 1e-9)) << order;
    }
    EXPECT_GT(time("data,pipeline,tensor"), inside * 1.05) << "tensor groups that span nodes must cost";
}

TEST(step, recomputation_costs_a_forward_pass_and_selective_only_the_core) {
    const auto compute = [](const std::string& recompute) {
        return make_report(run(test::small_study({"recompute=" + recompute, "attention=unfused"})))
            .metric("step.compute_s");
    };
    EXPECT_LT(compute("none"), compute("selective"));
    EXPECT_LT(compute("selective"), compute("full"));
    EXPECT_LT(compute("full"), compute("none") * 1.5);
}

TEST(step, overlapped_reduction_is_never_slower) {
    const std::vector<std::string> base{"layout.tensor=1", "layout.pipeline=1", "layout.data=16", "batch.global=16",
                                        "model.layers=24", "model.hidden=2048", "zero=1"};
    for (const char* framework : {"deepspeed", "megatron"}) {
        auto off = base, on = base;
        off.push_back(std::string("framework=") + framework);
        on = off;
        on.insert(on.end(), {"overlap_gradients=true", "bucket_elements=1e8"});
        const Report a = make_report(run(test::small_study(off))), b = make_report(run(test::small_study(on)));
        EXPECT_LT(b.metric("step.time_s"), a.metric("step.time_s")) << framework;
        EXPECT_LT(b.metric("step.exposed_communication_s"), a.metric("step.exposed_communication_s")) << framework;
    }
}

// At most 16 nodes: within one scalable unit all of them are equally far from one another.
RC_GTEST_PROP(step, folded_equals_unfolded_for_random_layouts_on_a_symmetric_machine, ()) {
    const std::uint32_t tensor = 1U << *rc::gen::inRange(0U, 4U), pipeline = 1U << *rc::gen::inRange(0U, 3U),
                        data = 1U << *rc::gen::inRange(0U, 3U);
    const std::string framework = *rc::gen::element(std::string("deepspeed"), std::string("megatron"));
    const std::string schedule = *rc::gen::element(std::string("1f1b"), std::string("gpipe"));
    auto own = settings(framework, schedule, tensor, pipeline, data, *rc::gen::inRange(1U, 6U));
    own.push_back("machine=dgx-a100");
    own.push_back("zero=" + std::to_string(*rc::gen::inRange(0, 2)));
    const Study study = test::small_study(own);
    const double folded = since_start(run(study).timeline.end).value;
    const double unfolded = since_start(run(study, {.folding = Folding::none}).timeline.end).value;
    RC_ASSERT(relative(folded, unfolded) < 1e-9);
}

}  // namespace
}  // namespace weft
