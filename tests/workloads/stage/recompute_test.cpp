// Recomputation by module and by layer: time, memory and calls against closed forms, legality by version.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/workloads/same_report.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/plan/stage_memory.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

// Six micro-batches through eight layers of one rank, in bf16.
const Settings alone{"layout.tensor=1", "layout.pipeline=1",          "layout.data=1",     "batch.global=6",
                     "precision=bf16",  "megatron.version=core-0.13", "model.biases=false"};
const Settings experts{
    "model.experts={\"count\": 8, \"top_k\": 2, \"ffn_hidden\": 512, \"shared\": 1, \"first_dense\": 2}"};
const Settings latent{
    "model.latent_attention={\"kv_rank\": 256, \"q_rank\": 384, \"nope_size\": 64, \"rope_size\": 32, \"value_size\": "
    "64}"};

Settings together(Settings settings, const Settings& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
}

Study study_of(const Settings& more) { return test::small_study(together(alone, more)); }

double compute(const Settings& more) {
    const Study study = study_of(more);
    return make_report(simulate_step(study, make_plan(study))).metric("step.compute_s");
}

double forward(const LayerCosts& layer) {
    double sum = 0;
    for (const PieceCost& piece : layer.pieces) sum += piece.forward.value;
    return sum;
}

double forward(const LayerCosts& layer, std::initializer_list<Piece> pieces) {
    double sum = 0;
    for (const PieceCost& piece : layer.pieces) {
        for (const Piece one : pieces) sum += piece.piece == one ? piece.forward.value : 0.0;
    }
    return sum;
}

double discarded(const LayerCosts& layer, Piece one) {
    for (const PieceCost& piece : layer.pieces) {
        if (piece.piece == one) return piece.discarded.value;
    }
    return 0;
}

// What a step takes longer by under "modules" is the forward of the pieces that they are made of.
TEST(recomputation, of_modules_takes_the_time_of_their_pieces_once_more) {
    const auto longer = [](const Settings& model, const std::string& modules) {
        return compute(together(model, {"recompute={\"modules\": [" + modules + "]}"})) - compute(model);
    };
    const Plan dense = make_plan(study_of({})), mixed = make_plan(study_of(experts)), mla = make_plan(study_of(latent));
    const LayerCosts &plain = dense.costs.layers[0], &moe = mixed.costs.layers[1], &down = mla.costs.layers[0];
    const double m = 6, layers = 8, with_experts = 6;
    const double core = forward(plain, {Piece::core});
    const double mlp = forward(plain, {Piece::mlp_up, Piece::mlp_down}) + discarded(plain, Piece::post_norm);
    EXPECT_NEAR(longer({}, "\"core_attn\""), m * layers * core, 1e-9);
    EXPECT_NEAR(longer({}, "\"mlp\""), m * layers * mlp, 1e-9);
    EXPECT_NEAR(longer({}, "\"core_attn\", \"mlp\""), m * layers * (core + mlp), 1e-9);
    const double shared = forward(moe, {Piece::shared_up, Piece::shared_down});
    const double all = shared + forward(moe, {Piece::router, Piece::permute, Piece::experts, Piece::unpermute});
    EXPECT_NEAR(longer(experts, "\"moe\""), m * with_experts * all, 1e-9);
    EXPECT_NEAR(longer(experts, "\"moe_act\""), m * with_experts * discarded(moe, Piece::experts), 1e-9);
    EXPECT_NEAR(longer(experts, "\"layernorm\""), m * with_experts * discarded(moe, Piece::post_norm), 1e-9);
    EXPECT_NEAR(longer(latent, "\"mla_up_proj\""), m * layers * discarded(down, Piece::qkv), 1e-9);
    EXPECT_GT(discarded(down, Piece::qkv), 0.3 * forward(down, {Piece::qkv}));
    EXPECT_LT(discarded(down, Piece::qkv), forward(down, {Piece::qkv}));
}

TEST(recomputation, of_layers_takes_the_time_of_those_that_the_method_chooses) {
    const double none = compute({}), layer = forward(make_plan(study_of({})).costs.layers[0]);
    const auto longer = [&](const std::string& how) { return (compute({"recompute=" + how}) - none) / (6 * layer); };
    EXPECT_NEAR(longer("full"), 8, 1e-9);
    EXPECT_NEAR(longer(R"({"method": "block", "layers": 3})"), 3, 1e-9);
    EXPECT_NEAR(longer(R"({"method": "uniform", "layers": 3})"), 8, 1e-9);
    EXPECT_NEAR(longer(R"({"method": "uniform", "layers": 8})"), 8, 1e-9);
    const Settings fsdp{"framework=fsdp", "megatron=null"};
    const double other = compute(fsdp);
    EXPECT_NEAR((compute(together(fsdp, {R"(recompute={"method": "every", "layers": 3})"})) - other) /
                    ((compute(together(fsdp, {"recompute=full"})) - other) / 8),
                2, 1e-9);
}

// Of l layers, each all = input + rest: none l all; block n inputs + (l - n) all; groups of n: an input each; every
// n-th its input.
TEST(recomputation, of_layers_keeps_inputs_of_those_and_all_of_the_others) {
    const auto kept = [](const std::string& how) {
        const Plan plan = make_plan(study_of({"recompute=" + how}));
        const Chunk& chunk = plan.stages.front().chunks.front();
        const Bytes ends = chunk.head_activations + embedding_activations(plan.job.model, plan.job.shard());
        return (chunk.activations - ends).value;
    };
    const double all = kept("none") / 8, input = kept("full") / 8;
    EXPECT_NEAR(kept(R"({"method": "block", "layers": 3})"), 3 * input + 5 * all, 1);
    EXPECT_NEAR(kept(R"({"method": "uniform", "layers": 3})"), 3 * input, 1);
    EXPECT_NEAR(kept(R"({"method": "uniform", "layers": 4})"), 2 * input, 1);
    EXPECT_NEAR(kept(R"({"method": "block", "layers": 8})"), 8 * input, 1);
}

// With a head that is small, one group of all layers has, when backward begins, all activations, as without
// recomputation; the last layer's own workspace is the same.
TEST(recomputation, of_one_group_of_all_layers_saves_no_memory_at_the_peak) {
    const auto peak = [](const std::string& how) {
        const Study study = study_of({"batch.global=1", "model.vocabulary=128", "recompute=" + how});
        const MemoryUse use = make_plan(study).stages.front().memory;
        return (use.activations + use.workspace).value;
    };
    EXPECT_NEAR(peak(R"({"method": "uniform", "layers": 8})"), peak("none"), 1e-6 * peak("none"));
    EXPECT_LT(peak(R"({"method": "uniform", "layers": 4})"), 0.8 * peak("none"));
    EXPECT_LT(peak(R"({"method": "uniform", "layers": 4})"), peak(R"({"method": "block", "layers": 1})"));
}

TEST(recomputation, of_modules_keeps_what_no_module_makes) {
    const auto kept = [](const Settings& model, const std::string& modules, LayerKind kind) {
        const Study study = study_of(together(model, {"recompute={\"modules\": [" + modules + "]}"}));
        return saved_tensors(study.job.model, kind, study.job.shard(),
                             {.recompute = Recompute::selective,
                              .parts = recomputed_parts(study.job, kind),
                              .expert_weights = ExpertWeights::in_activation});
    };
    const auto without = [](std::vector<SavedTensor> all, const std::vector<std::string_view>& names) {
        std::erase_if(all, [&](const SavedTensor& tensor) {
            return std::find(names.begin(), names.end(), tensor.name) != names.end();
        });
        double sum = 0;
        for (const SavedTensor& tensor : all) sum += tensor.bytes.value;
        return sum;
    };
    const auto expect = [&](const Settings& model, const std::string& modules, LayerKind kind,
                            const std::vector<std::string_view>& gone) {
        const Study study = study_of(model);
        const std::vector<SavedTensor> all =
            saved_tensors(study.job.model, kind, study.job.shard(), {.expert_weights = ExpertWeights::in_activation});
        EXPECT_EQ(without(kept(model, modules, kind), {}), without(all, gone)) << modules;
        EXPECT_LT(without(all, gone), without(all, {})) << modules;
    };
    // Transformer Engine's norm is part of the MLP's first map.
    expect({}, "\"mlp\"", LayerKind::dense,
           {"MLP's input", "activation function's input", "activation function's output"});
    expect({}, "\"core_attn\"", LayerKind::dense, {"softmax statistics"});
    expect({"megatron.transformer_engine=false"}, "\"mlp\"", LayerKind::dense,
           {"activation function's input", "activation function's output"});
    expect({"megatron.transformer_engine=false"}, "\"layernorm\"", LayerKind::dense,
           {"input of queries, keys and values", "MLP's input"});
    expect(experts, "\"layernorm\"", LayerKind::expert, {"MLP's input"});
    expect(experts, "\"moe_act\"", LayerKind::expert, {"experts' activation function's output"});
    expect(experts, "\"moe\"", LayerKind::expert,
           {"router's probabilities", "experts' input", "experts' activation function's input",
            "experts' activation function's output", "shared experts' activation function's input",
            "shared experts' activation function's output"});
    // The latent vectors before their norms stay, half of what was kept of them, and the keys' rotary part.
    const Study study = study_of(latent);
    const double tokens = 1024;
    const std::vector<SavedTensor> all = saved_tensors(study.job.model, LayerKind::dense, study.job.shard(), {});
    EXPECT_EQ(without(kept(latent, "\"mla_up_proj\"", LayerKind::dense), {}),
              without(all, {"queries, keys and values"}) - 2 * tokens * (256 + 384) + 2 * tokens * 32);
}

// Sequence parallelism: an all-gather before the MLP's first map and a reduce-scatter after its second are repeated;
// experts exchange tokens there and back once more.
TEST(recomputation, repeats_the_calls_of_its_modules) {
    const auto calls = [](const Settings& settings, const std::string& op) {
        const Study study = test::small_study(together(alone, settings));
        double calls = 0;
        for (const VolumeRow& row : framework_volume(make_plan(study), RankId{0}).rows) {
            if (row.op == op && row.when == "micro-batch") calls += row.calls;
        }
        return calls;
    };
    const Settings two{"layout.tensor=2", "sequence_parallel=true"};
    const Settings mlp = together(two, {"recompute={\"modules\": [\"mlp\"]}"});
    EXPECT_EQ(calls(mlp, "all_gather") - calls(two, "all_gather"), 8);
    EXPECT_EQ(calls(mlp, "reduce_scatter") - calls(two, "reduce_scatter"), 8);
    const Settings spread = together(experts, {"layout.data=2", "layout.expert=2", "batch.global=12"});
    const Settings moe = together(spread, {"recompute={\"modules\": [\"moe\"]}"});
    EXPECT_EQ(calls(moe, "all_to_all") - calls(spread, "all_to_all"),
              6 * 3);  // tokens there, their probabilities, and back
    const Settings act = together(spread, {"recompute={\"modules\": [\"moe_act\", \"layernorm\"]}"});
    EXPECT_EQ(calls(act, "all_to_all"), calls(spread, "all_to_all"));
}

TEST(recomputation, folds_as_it_is) {
    for (const std::string how : {R"({"method": "block", "layers": 1})", R"({"method": "uniform", "layers": 2})",
                                  R"({"modules": ["core_attn", "mlp"]})"}) {
        const Study study = test::small_study({"precision=bf16", "megatron.version=core-0.13", "recompute=" + how,
                                               "sequence_parallel=true", "batch.global=16"});
        const auto report = [&](Folding folding) {
            return make_report(simulate_step(study, make_plan(study), {.folding = folding}));
        };
        EXPECT_EQ(test::differences(report(Folding::exact), report(Folding::none)), "") << how;
    }
}

TEST(recomputation, is_refused_where_nothing_has_it) {
    const auto refused = [](const Settings& settings) {
        try {
            study_of(settings);
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const auto mentions = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    const auto modules = [](const std::string& names) { return "recompute={\"modules\": [" + names + "]}"; };
    EXPECT_TRUE(mentions(refused({modules("\"moe\"")}), "no layer"));
    EXPECT_TRUE(mentions(refused({modules("\"layernorm\"")}), "megatron.transformer_engine"));
    EXPECT_TRUE(mentions(refused({modules("\"mlp\""), "megatron.version=core-0.8"}), "core-0.12"));
    EXPECT_EQ(refused(together(experts, {modules("\"moe\""), "megatron.version=core-0.8"})), "");
    EXPECT_TRUE(mentions(refused({modules("\"attention\"")}), "core_attn"));
    EXPECT_TRUE(mentions(refused({modules("\"mlp\""), "framework=fsdp", "megatron=null"}), "Megatron-core"));
    EXPECT_TRUE(mentions(refused({R"(recompute={"method": "every", "layers": 2})"}), "torchtitan"));
    EXPECT_TRUE(mentions(refused({R"(recompute={"method": "block", "layers": 9})"}), "more than the 8"));
    EXPECT_TRUE(
        mentions(refused({R"(recompute={"layers": 2})", "framework=deepspeed", "zero=3", "megatron=null"}), "ZeRO-3"));
}

}  // namespace
}  // namespace weft
