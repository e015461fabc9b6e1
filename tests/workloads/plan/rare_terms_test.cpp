// Jobs of models with terms that only some models have.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

const std::vector<std::vector<std::string>> models{
    {"model.norm_placement=sandwich", "model.attention_window={\"tokens\": 128, \"full_every\": 2}",
     "model.query_key_norm=per_head", "model.embedding_norm=true"},
    {"model.norm_placement=post", "model.query_key_norm=whole", "model.biases=[\"qkv\", \"head\"]",
     "model.attention_sinks=true"},
    {"model.norm_placement=shared", "model.parallel_residual=true", "model.norm_bias=false"},
    {"model.norm_weight=false", "model.biases=[\"router\", \"experts\"]",
     "model.experts={\"count\": 4, \"shared\": 1, \"shared_gate\": true, \"every\": 2}",
     "model.attention_window={\"tokens\": 100, \"chunked\": true}"}};

const std::vector<std::vector<std::string>> frameworks{
    {"framework=megatron", "layout.tensor=2", "layout.pipeline=4", "sequence_parallel=true"},
    {"framework=deepspeed", "zero=3", "layout.pipeline=1", "layout.data=8"},
    {"framework=deepspeed", "zero=1", "layout.pipeline=2", "layout.data=4"},
    {"framework=fsdp", "layout.tensor=1", "layout.pipeline=1", "layout.data=16"}};

Simulation simulated(const std::vector<std::string>& model, const std::vector<std::string>& framework) {
    std::vector<std::string> settings = model;
    settings.insert(settings.end(), framework.begin(), framework.end());
    const Study study = test::small_study(settings);
    return simulate_step(study, make_plan(study), {});
}

double held(const Plan& plan) {
    return std::accumulate(plan.stages.begin(), plan.stages.end(), 0.0,
                           [](double sum, const Stage& stage) { return sum + stage.parameters(); });
}

TEST(rare_terms, are_simulated_under_every_framework) {
    for (const auto& model : models) {
        for (const auto& framework : frameworks) {
            // DeepSpeed refuses experts in a pipeline and under ZeRO-3.
            if (&model == &models.back() && framework.front() == "framework=deepspeed") continue;
            SCOPED_TRACE(model.front() + " " + framework.front());
            const Simulation run = simulated(model, framework);
            const Job& job = run.plan.job;
            EXPECT_GT(run.plan.model_flops.value, 0);
            const bool copied = job.copies_embedding();
            EXPECT_EQ(held(run.plan) - (copied ? double(job.embedding_matrix()) : 0.0),
                      double(parameters(job.model, job.split())));
        }
    }
}

// Time is saved where attention is fused, and there alone.
TEST(rare_terms, windows_of_attention_save_time) {
    const auto step = [](const std::string& attention, const std::vector<std::string>& more) {
        std::vector<std::string> settings{"attention=" + attention, "batch.sequence=8192"};
        settings.insert(settings.end(), more.begin(), more.end());
        const Plan plan = make_plan(test::small_study(settings));
        return std::pair{plan.costs.layer(layer_kind(plan.job.model, 0)).pieces[2].forward.value,
                         plan.hardware_flops.value};
    };
    const std::vector<std::string> window{"model.attention_window={\"tokens\": 512}"};
    const auto [full_time, full_flops] = step("flash", {});
    const auto [time, flops] = step("flash", window);
    EXPECT_LT(time, 0.5 * full_time);
    EXPECT_LT(flops, full_flops);
    EXPECT_EQ(step("unfused", window).first, step("unfused", {}).first);
}

}  // namespace
}  // namespace weft
