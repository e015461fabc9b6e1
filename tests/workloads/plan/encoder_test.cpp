// Jobs whose model sees images: stages, calls, memory, folding.
#include <gtest/gtest.h>

#include "tests/workloads/called.hpp"
#include "tests/workloads/same_report.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

const Settings seeing{R"(model.encoder={"layers": 4, "hidden": 512, "heads": 8, "tokens": 256, "patch": 588,
                                        "merge": 4, "projector": [2048], "projector_norm": "layer_norm"})",
                      "batch.images=3", "precision=bf16"};

Settings with(Settings more) {
    more.insert(more.begin(), seeing.begin(), seeing.end());
    return more;
}

TEST(encoder, stands_before_the_layers_of_the_first_stage_or_on_it_alone) {
    const auto layers = [](const Settings& more) {
        std::vector<std::uint32_t> found;
        for (const Stage& stage : make_plan(test::small_study(with(more))).stages) found.push_back(stage.layers());
        return found;
    };
    EXPECT_EQ(layers({}), (std::vector<std::uint32_t>{6, 2, 2, 2}));
    EXPECT_EQ(layers({"layout.split=[0, 2, 3, 3]"}), (std::vector<std::uint32_t>{4, 2, 3, 3}));
    EXPECT_EQ(layers({"layout.split=\"ends\"", "model.layers=10", "layout.data=2"}).front(), 6);
}

// Tensor ranks sum the encoder's hidden state, of three images of 256 patches, twice a layer forward and backward.
TEST(encoder, tensor_ranks_exchange_its_own_tokens) {
    const auto summed = [](const Settings& more) {
        return test::called(make_plan(test::small_study(more)), 0, "all-reduce layer").bytes;
    };
    const double micro_batches = 16, each = 3 * 256 * 512 * 2.0;
    const double blind = summed({"precision=bf16"}), seen = summed(with({}));
    EXPECT_DOUBLE_EQ(seen - blind, micro_batches * 4 * 4 * each);
    EXPECT_DOUBLE_EQ(summed(with({R"(frozen=["encoder"])"})) - blind, micro_batches * 4 * 2 * each);
}

TEST(encoder, that_is_frozen_runs_forward_alone) {
    const auto plan = [](const Settings& more) { return make_plan(test::small_study(with(more))); };
    const Plan whole = plan({}), frozen = plan({R"(frozen=["encoder"])"});
    const double encoder = 4 * (12.0 * 512 * 512 + 13.0 * 512) / 2;  // of one of two tensor ranks, nearly
    EXPECT_NEAR(whole.stages[0].trained() - frozen.stages[0].trained(), encoder, 0.1 * encoder);
    EXPECT_EQ(whole.stages[0].parameters(), frozen.stages[0].parameters());
    EXPECT_LT(frozen.stages[0].memory.activations.value, whole.stages[0].memory.activations.value);
    for (const PieceCost& piece : frozen.costs.layers[frozen.job.layer_place(0)].pieces) {
        EXPECT_GT(piece.forward.value, 0);
        EXPECT_EQ(piece.input_backward.value + piece.weight_backward.value, 0);
    }
}

// All but the projector is frozen: layers of the language pass gradients on and have none of their own.
TEST(encoder, a_projector_is_trained_alone) {
    const Plan plan =
        make_plan(test::small_study(with({R"(frozen=["encoder", "embedding", "attention", "mlp", "norms", "head"])"})));
    EXPECT_GT(plan.stages[0].trained(), 0);
    for (std::size_t stage = 1; stage < plan.stages.size(); ++stage) EXPECT_EQ(plan.stages[stage].trained(), 0);
    const std::uint32_t first_of_language = plan.job.model.encoder.layers;
    double passed = 0;
    for (const PieceCost& piece : plan.costs.layers[plan.job.layer_place(first_of_language)].pieces) {
        passed += piece.input_backward.value;
        EXPECT_EQ(piece.weight_backward.value, 0);
    }
    EXPECT_GT(passed, 0);
}

TEST(encoder, jobs_fold_as_they_are) {
    const std::string frozen = R"(frozen=["encoder"])";
    const Settings one{"layout.tensor=1", "layout.pipeline=1", "layout.data=16"};
    const auto alone = [&](Settings more) {
        more.insert(more.begin(), one.begin(), one.end());
        return more;
    };
    for (const Settings& more :
         {Settings{}, Settings{frozen}, Settings{frozen, "recompute=full"}, Settings{"layout.split=[0, 2, 3, 3]"},
          Settings{"sequence_parallel=true", "zero=1", "overlap_gradients=true"},
          alone({"framework=deepspeed", "zero=3"}), alone({"framework=deepspeed", "zero=3", frozen}),
          alone({"framework=deepspeed", "zero=3", frozen, "recompute=full"}),
          alone({"framework=fsdp", "fsdp.version=2", frozen}), alone({"framework=ddp", frozen}),
          alone({"framework=ddp", R"(adapters={"rank": 16, "targets": ["q_proj", "v_proj"]})"})}) {
        const Study study = test::small_study(with(more));
        const auto report = [&](Folding folding) {
            return make_report(simulate_step(study, make_plan(study), {.folding = folding}));
        };
        EXPECT_EQ(test::differences(report(Folding::none), report(Folding::exact)), "")
            << (more.empty() ? "" : more.back());
    }
}

// Of a shard that nothing is trained of, backward gathers nothing: what is sharded travels once a step less.
TEST(encoder, that_is_frozen_is_gathered_once) {
    const auto gathered = [](const Settings& more) {
        Settings all{"layout.tensor=1", "layout.pipeline=1", "layout.data=16", "batch.global=16"};
        all.insert(all.end(), more.begin(), more.end());
        return test::called(make_plan(test::small_study(with(all))), 0, "all-gather parameters").bytes;
    };
    const double layers = 4 * 2 * (12.0 * 512 * 512 + 13.0 * 512);
    const Settings fsdp{"framework=fsdp", "fsdp.version=2"},
        frozen{"framework=fsdp", "fsdp.version=2", R"(frozen=["encoder"])"};
    EXPECT_DOUBLE_EQ(gathered(fsdp) - gathered(frozen), layers);
}

TEST(encoder, jobs_that_cannot_be_are_refused) {
    EXPECT_NE(test::mistake_at(with({"batch.images=20"}), "batch.images").find("1280 tokens"), std::string::npos);
    EXPECT_NE(test::mistake_at(with({"batch.images=0"}), "batch.images").find("leave out"), std::string::npos);
    EXPECT_NE(test::mistake_at(with({"layout.context=2", "layout.data=1"}), "layout.context"), "");
    EXPECT_NE(test::mistake_at({"batch.images=2"}, "batch.images").find("no encoder"), std::string::npos);
}

}  // namespace
}  // namespace weft
