// Jobs whose models predict further tokens: where the modules are, what they hold, compute and send.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/transformer/flops.hpp"
#include "models/transformer/kernels.hpp"
#include "models/transformer/prediction.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/schedule/schedule.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

using Settings = std::vector<std::string>;

Study predicting(std::uint32_t modules, Settings more = {}) {
    more.push_back("megatron.version=core-0.13");
    more.push_back("model.mtp_layers=" + std::to_string(modules));
    return test::small_study(more);
}

double held(const Plan& plan) {
    return std::accumulate(plan.stages.begin(), plan.stages.end(), 0.0,
                           [](double sum, const Stage& stage) { return sum + stage.parameters(); });
}

// What a stage sends or reduces under a label, of one step.
Bytes called(const Plan& plan, std::uint32_t stage, std::string_view label) {
    Bytes sum;
    const Script script = step_script(plan, stage, StepKind::steady);
    for (const Action& action : script.actions()) {
        if (action.kind != Action::Kind::call && action.kind != Action::Kind::issue) continue;
        const Call& call = script.calls()[action.subject];
        if (call.label == label && call.direction != Direction::receive) sum += call.message;
    }
    return sum;
}

TEST(predictions, stand_with_the_loss_unless_the_layout_says_otherwise) {
    EXPECT_EQ(make_plan(predicting(2)).stages.back().layers(), 4U);
    const Plan apart = make_plan(predicting(2, {"layout.split=Et*4|t*4|m*2|L"}));
    EXPECT_EQ(apart.stages[2].layers(), 2U);
    EXPECT_EQ(apart.stages[2].chunks[0].predictions, 2U);
    EXPECT_EQ(apart.stages[3].layers(), 0U);
}

// Every parameter once, and the copy of the embedding on the stage of the modules.
TEST(predictions, are_held_once_under_every_schedule) {
    for (const Schedule* const schedule : schedule::all()) {
        Settings settings{"schedule=" + std::string(schedule->key)};
        if (schedule->chunks == 0) settings.emplace_back("layout.virtual_stages=2");
        const Study study = predicting(1, settings);
        const Job& job = study.job;
        const Plan plan = make_plan(study);
        const double copy = job.copies_embedding() ? double(job.embedding_matrix()) : 0.0;
        EXPECT_EQ(held(plan), double(parameters(job.model, job.split())) * schedule->copies + copy) << schedule->key;
        const Study none = predicting(0, settings);
        const auto step = [](const Study& of) {
            return make_report(simulate_step(of, make_plan(of), {})).metrics.front().value;
        };
        EXPECT_GT(step(study), step(none)) << schedule->key;
    }
}

// Of the embedding as of a tied one, and of the hidden states behind a module that stands apart.
TEST(predictions, embedding_is_summed_over_two_stages_and_outputs_travel_together) {
    const Plan last = make_plan(predicting(1)), apart = make_plan(predicting(2, {"layout.split=Et*4|t*4|m*2|L"}));
    const Plan none = make_plan(predicting(0));
    constexpr std::string_view embedding = "all-reduce tied embedding";
    const double matrix = double(last.job.embedding_matrix()) * 2;  // fp16
    EXPECT_EQ(called(none, 0, embedding).value, 0);
    for (const std::uint32_t stage : {0U, 3U}) EXPECT_EQ(called(last, stage, embedding).value, matrix);
    for (const std::uint32_t stage : {0U, 2U}) EXPECT_EQ(called(apart, stage, embedding).value, matrix);
    EXPECT_EQ(called(apart, 3, embedding).value, 0);
    const Bytes usual = called(none, 1, "activation");
    EXPECT_EQ(called(apart, 1, "activation").value, usual.value);
    EXPECT_EQ(called(apart, 2, "activation").value, 3 * usual.value);
    EXPECT_EQ(called(apart, 3, "gradient").value, 3 * usual.value);
}

// What the devices compute is what the model's FLOPs say, where nothing is padded or computed twice.
TEST(predictions, compute_what_the_model_has) {
    const Settings exact{"model.vocabulary_multiple=1", "model.vocabulary=50176", "attention=unfused"};
    const Plan with = make_plan(predicting(1, exact)), without = make_plan(predicting(0, exact));
    EXPECT_NEAR((with.hardware_flops - without.hardware_flops).value / (with.model_flops - without.model_flops).value,
                1.0, 1e-9);
}

TEST(predictions, keep_a_layer_and_their_inputs) {
    const Study study = predicting(1), none = predicting(0);
    const Job& job = study.job;
    const Chunk with = make_plan(study).stages.back().chunks[0], without = make_plan(none).stages.back().chunks[0];
    const Shard shard = job.shard();
    const Bytes layer =
        layer_activations(job.model, LayerKind::dense, shard,
                          {.recompute = job.recompute.granularity, .expert_weights = job.framework->expert_weights});
    const Bytes more = layer + prediction_activations(job.model, shard) + embedding_activations(job.model, shard) +
                       head_activations(job.model, shard);
    EXPECT_NEAR((with.activations - without.activations).value, more.value, 1.0);
    EXPECT_EQ(prediction_activations(job.model, shard).value, 5.0 * 1024 * 1024 * 2);
}

TEST(predictions, other_frameworks_and_older_versions_refuse_them) {
    const Study old = test::small_study({"model.mtp_layers=1", "megatron.version=core-0.11"});
    EXPECT_THAT(lacking_features(old.job).at(0).message,
                HasSubstr("multi-token prediction came with Megatron-core 0.12, after Megatron-core 0.11"));
    const auto refusal = [](const Settings& settings) {
        try {
            predicting(1, settings);
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(refusal({"framework=deepspeed"}), HasSubstr("deepspeed has no modules that predict further tokens"));
    EXPECT_THAT(refusal({"layout.split=Et*4|t*4|m|L", "model.tied_embeddings=true"}), HasSubstr("put m before L"));
    EXPECT_THAT(refusal({"layout.split=Et*4|t*4||L"}), HasSubstr("places 0 prediction modules (m)"));
    EXPECT_THAT(refusal({"schedule=zb-v", "layout.split=Et|t|t|t|t|t|t*2m|L"}), HasSubstr("stand with the loss"));
}

// One sum per step over all ranks that share the experts' tokens: 4 bytes for each expert of each layer.
TEST(predictions, a_bias_that_balances_experts_takes_one_sum_per_step) {
    const auto counts = [](const char* balancing) {
        const Plan plan = make_plan(test::small_study(
            {"megatron.version=core-0.13", "layout.tensor=1", "layout.data=4", "layout.expert=4",
             std::string("model.experts={\"count\": 8, \"top_k\": 2, \"balancing_bias\": ") + balancing + "}"}));
        return called(plan, 1, "all-reduce expert counts").value;
    };
    EXPECT_EQ(counts("false"), 0);
    EXPECT_EQ(counts("true"), 4.0 * 2 * 8);
}

// Documents that share a sequence do not attend to one another: a quarter of the pairs, and no more of anything else.
TEST(predictions, packed_documents_attend_to_themselves) {
    const auto core = [](const char* document) {
        const Plan plan = make_plan(test::small_study(
            {"batch.sequence=4096", "recompute=selective", std::string("batch.document=") + document}));
        return plan.costs.layer(LayerKind::dense);
    };
    const LayerCosts whole = core("0"), packed = core("1024");
    EXPECT_EQ(packed.repeated.value, whole.repeated.value / 4) << "of the core, which is computed again";
    EXPECT_LT(packed.pieces[2].forward.value, 0.5 * whole.pieces[2].forward.value);
    EXPECT_EQ(packed.pieces[1].forward.value, whole.pieces[1].forward.value);
    EXPECT_EQ(core("4096").repeated.value, whole.repeated.value);
    EXPECT_THAT(test::mistakes("batch.document=1000"), HasSubstr("do not fill a sequence of 1024"));
}

}  // namespace
}  // namespace weft
