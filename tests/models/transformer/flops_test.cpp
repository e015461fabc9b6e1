#include "models/transformer/flops.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "models/transformer/kernels.hpp"
#include "tests/models/csv.hpp"
#include "tests/models/shapes.hpp"
#include "tests/models/transformer/dense_layer.hpp"

namespace weft {
namespace {

using testing::layer_forward;
using testing::LayerKernels;

using testing::plain;
using testing::Row;

void expect_close(double ours, double theirs, double relative) { EXPECT_NEAR(ours, theirs, relative * theirs); }

// Shapes and conventions as printed in a table whose columns are called L, h, a, V.
Transformer shape(const Row& row) { return plain(row.whole("L"), row.whole("h"), row.whole("a"), row.whole("V")); }

TEST(model_flops, of_a_plain_model_are_the_published_formula) {
    EXPECT_TRUE(rc::check([] {
        const double L = *rc::gen::inRange(1, 200), a = *rc::gen::inRange(1, 200), h = a * 8, V = 128.0 * 400;
        const double B = *rc::gen::inRange(1, 5000), s = *rc::gen::inRange(1, 100000);
        const Transformer model = plain(static_cast<std::uint32_t>(L), static_cast<std::uint32_t>(h),
                                        static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(V));
        const double published = 72 * B * s * L * h * h * (1 + s / (6 * h) + V / (12 * L * h));
        RC_ASSERT(std::abs(model_flops(model, B, s).value - published) <= 1e-12 * published);
    }));
}

TEST(model_flops, of_any_model_are_three_times_the_forward_kernels_of_all_ranks) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = testing::any_tensor();
        Transformer model = testing::any_model(t);
        model.vocabulary = 128 * 16 * 3 * 7;  // no padding, whatever t
        model.vocabulary_multiple = 128;
        const Shard shard = testing::any_shard(t);
        const LayerKernels layer = layer_forward(model, shard);
        double forward = 0;
        for (const auto* part : {&layer.attention, &layer.mlp}) {
            for (const Kernel& kernel : *part) forward += kernel.flops.value * model.layers;
        }
        for (const Kernel& kernel : head_forward(model, shard)) forward += kernel.flops.value;
        const double whole = model_flops(model, shard.micro_batch, shard.sequence).value;
        RC_ASSERT(std::abs(3 * t * forward - whole) <= 1e-9 * whole);
    }));
}

TEST(model_flops, count_grouped_heads_and_gated_matrices) {
    Transformer model = plain(1, 8, 4, 128);  // head size 2
    model.kv_heads = 2;
    model.ffn_hidden = 12;
    model.gated = true;
    // Matrices: QKV 8 x (8 + 2*4), projection 8 x 8, MLP 3 x 8 x 12, logits 8 x 128; scores: 2 x 8 x s per token.
    const double matrices = 8 * 16 + 64 + 288 + 1024;
    EXPECT_EQ(model_flops(model, 5, 10).value, 6.0 * 50 * (matrices + 2 * 8 * 10));
}

class neox_flops : public ::testing::TestWithParam<Row> {
  protected:
    Row row = GetParam();
    double b = row.number("b"), s = row.number("s");

    static Transformer model(const Row& flops) {
        for (const Row& m : testing::read_table("neox_models.csv")) {
            if (m.text("model") != flops.text("model")) continue;
            return plain(m.whole("num_layers"), m.whole("hidden_size"), m.whole("num_attention_heads"),
                         m.whole("vocab_padded_tp1"));
        }
        throw std::out_of_range(flops.text("model"));
    }
};

TEST_P(neox_flops, are_what_gpt_neox_prints) {
    const double with = row.number("neox_get_flops_per_gpu_per_microbatch(ckpt factor 4)");
    const double without = row.number("same without ckpt(factor 3)");
    expect_close(megatron_flops(model(row), b, s, Passes::with_recompute).value, with, 1e-6);
    expect_close(megatron_flops(model(row), b, s, Passes::forward_backward).value, without, 1e-6);
}

TEST_P(neox_flops, are_what_megatron_core_prints) {
    expect_close(megatron_core_2024_flops(model(row), b, s).value, row.number("megatron_core0.8_num_flops_per_gpu"),
                 1e-6);
}

INSTANTIATE_TEST_SUITE_P(configs, neox_flops, ::testing::ValuesIn(testing::read_table("flops_memory_expected.csv")),
                         [](const auto& instance) { return testing::test_name(instance.param.text("model")); });

// By hand: 12 x 5 x 10 x 8^2 x [(1 + 2/4 + 10/8) + 12/8 x 3/2 + 128/(2 x 8)].
TEST(megatron_core_2024_flops, count_grouped_heads_and_gated_matrices) {
    Transformer model = plain(1, 8, 4, 128);
    model.kv_heads = 2;
    model.ffn_hidden = 12;
    model.gated = true;
    EXPECT_EQ(megatron_core_2024_flops(model, 5, 10).value, 12.0 * 50 * 64 * (2.75 + 2.25 + 8));
    model.gated = false;
    EXPECT_EQ(megatron_core_2024_flops(model, 5, 10).value, 12.0 * 50 * 64 * (2.75 + 1.5 + 8));
}

// By hand: without the router's matrix; half of the scores; dense layers, shared experts and prediction modules each as
// they are. Of the model above: matrices 8 x (16 + 8 + 3 x 12 + 128), scores 2 x 8 x 10 / 2.
TEST(megatron_core_flops, count_half_of_attention_and_every_layer_as_it_is) {
    Transformer model = plain(1, 8, 4, 128);
    model.kv_heads = 2;
    model.ffn_hidden = 12;
    model.gated = true;
    EXPECT_EQ(megatron_core_flops(model, 5, 10).value, 6.0 * 50 * (8 * (16 + 8 + 36 + 128) + 80));
    model.layers = 3;
    model.experts.count = 4;
    model.experts.top_k = 2;
    model.experts.ffn_hidden = 6;
    model.experts.shared = 1;
    model.experts.shared_ffn_hidden = 5;
    model.experts.first_dense = 1;
    const double dense = 8 * (16 + 8 + 36), routed = 8 * (16 + 8 + 3 * (2 * 6 + 5));
    EXPECT_EQ(megatron_core_flops(model, 5, 10).value, 6.0 * 50 * (dense + 2 * routed + 8 * 128 + 3 * 80));
}

// A letter a layer, as in Megatron-core's patterns: hybrid models have a mixer or a feed-forward alone.
Transformer hybrid(std::string_view pattern, Transformer model) {
    const auto add = [&](char letter, Mixer mixer, bool routes, std::uint32_t ffn_hidden) {
        NamedLayer kind{std::string(1, letter), model};
        kind.layer.mixer = mixer;
        kind.layer.ffn_hidden = ffn_hidden;
        if (!routes) kind.layer.experts.count = 0;
        model.kinds.push_back(kind);
    };
    const std::uint32_t ffn_hidden = model.ffn_hidden;
    add('M', Mixer::mamba2, false, 0);
    add('G', Mixer::gated_delta, false, 0);
    add('*', Mixer::attention, false, 0);
    add('-', Mixer::none, false, ffn_hidden);
    add('E', Mixer::none, true, ffn_hidden);
    for (const char letter : pattern)
        model.pattern.push_back(static_cast<std::uint8_t>(std::string("MG*-E").find(letter)));
    model.layers = static_cast<std::uint32_t>(pattern.size());
    return model;
}

// NVIDIA's pairs of TFLOP/s and tokens/s per GPU for Nemotron 3 Nano, sequences of 8192 (Megatron-Bridge,
// docs/performance-summary.md and -archive.md): 22.10 to 22.56 GFLOP a token, twelve pairs, median 22.277; with the
// 4096 values that its Mamba has in place of 2 h it would be 20.77.
TEST(megatron_core_flops, are_those_that_nvidia_prints_of_nemotron_3_nano) {
    Transformer model = plain(1, 2688, 32, 131072);
    model.kv_heads = 2;
    model.head_size = 128;
    model.ffn_hidden = 1856;
    model.experts = {.count = 128, .top_k = 6, .ffn_hidden = 1856, .shared = 1, .shared_ffn_hidden = 3712};
    model.recurrence = {.heads = 64, .key_heads = 8, .key_size = 128, .value_size = 64, .chunk = 128};
    model = hybrid("MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME", model);
    expect_close(megatron_core_flops(model, 1, 8192).value / 8192, 22.277e9, 2e-4);
}

// By hand, per token; every product is two FLOPs, three times.
TEST(megatron_core_flops, count_mixers_as_the_source_does) {
    Transformer model = plain(1, 8, 4, 128);
    model.kv_heads = 2;
    model.ffn_hidden = 12;
    model.recurrence = {.heads = 4, .key_heads = 2, .key_size = 3, .value_size = 5, .convolution = 4};
    const double logits = 8 * 128, attention = 8 * 16 + 8 * 8 + 8 * 10, mlp = 2 * 8 * 12;
    const double mamba = 8 * (2 * 16 + 2 * 6 + 4) + 3.5 * 16 * 3 + 16 * 8;
    const double delta = 8 * (2 * 6 + 2 * 20 + 8) + 4 * (2 * 6 + 20) + 4 * 4 * 25 + 8 * 20;
    EXPECT_EQ(megatron_core_flops(hybrid("MG*-", model), 5, 10).value,
              300 * (logits + mamba + delta + attention + mlp));
    // A gate is counted outside of hybrid patterns; experts run on their narrower tokens.
    model.attention_gate = AttentionGate::elements;
    EXPECT_EQ(megatron_core_flops(hybrid("*", model), 5, 10).value, 300 * (logits + attention));
    EXPECT_EQ(megatron_core_flops(model, 5, 10).value, 300 * (logits + attention + 64 + mlp));
    model.experts = {.count = 4, .top_k = 2, .ffn_hidden = 6, .latent = 4, .shared = 1, .shared_ffn_hidden = 5};
    const double routed = 2 * 2 * 4 * 6 + 2 * 8 * 4 + 2 * 8 * 5;
    EXPECT_EQ(megatron_core_flops(hybrid("E", model), 5, 10).value, 300 * (logits + routed));
    // The indexer is not counted, and its attention is in full; a hybrid pattern's latent attention not at all.
    model.experts = {};
    model.attention_gate = AttentionGate::none;
    model.kv_heads = model.heads;
    model.latent = {.kv_rank = 6, .q_rank = 0, .nope_size = 3, .rope_size = 1, .value_size = 2};
    model.head_size = 4;
    const double plain_latent = megatron_core_flops(model, 5, 10).value;
    model.indexer = {.heads = 2, .head_size = 4, .top_k = 3};
    EXPECT_EQ(megatron_core_flops(model, 5, 10).value, plain_latent);
    EXPECT_EQ(megatron_core_flops(hybrid("*", model), 5, 10).value, 300 * logits);
}

// Korthikanti et al.: model FLOPs over time, GPUs and 312 TFLOP/s is the printed MFU. The 22B iteration time has three
// digits only.
class korthikanti_run : public ::testing::TestWithParam<Row> {};

TEST_P(korthikanti_run, has_the_utilisation_that_was_printed) {
    const Row& row = GetParam();
    const Flops flops = model_flops(shape(row), row.number("gbs"), row.number("seq"));
    const double utilisation = flops.value / (row.number("iter_s") * row.number("gpus") * 312e12);
    EXPECT_NEAR(100 * utilisation, row.number("MFU_check_pct"), 0.051);
    const std::string& printed = row.text("MFU_printed_pct");
    if (printed.empty()) return;
    EXPECT_NEAR(100 * utilisation, std::stod(printed), 0.25);
}

INSTANTIATE_TEST_SUITE_P(runs, korthikanti_run,
                         ::testing::ValuesIn(testing::read_table("korthikanti2022_iter_times.csv")),
                         [](const auto& instance) {
                             const Row& run = instance.param;
                             return testing::test_name(run.text("model") + " on " + run.text("gpus") + " " +
                                                       run.text("recompute"));
                         });

class sc21_run : public ::testing::TestWithParam<Row> {};

TEST_P(sc21_run, prints_flops_with_recomputation) {
    const Row& row = GetParam();
    const Flops flops = megatron_flops(shape(row), row.number("gbs"), row.number("seq"), Passes::with_recompute);
    const double rate = flops.value / (row.number("iter_s_derived") * row.number("gpus"));
    expect_close(rate, row.number("TFLOPs_per_gpu") * 1e12, 0.004);
}

// 12Lh^2 (1 + 13/12h + (V + s)/12Lh), Narayanan et al. equation 2: "1.7B" is 1.7 billion to the printed digit.
TEST_P(sc21_run, is_named_after_its_parameters) {
    const Row& row = GetParam();
    Transformer model = shape(row);
    model.tied_embeddings = true;
    model.positions = Positions::learned;
    model.positions_length = row.whole("seq");
    EXPECT_NEAR(static_cast<double>(parameters(model)) / 1e9, std::stod(row.text("model")), 0.0501);
}

INSTANTIATE_TEST_SUITE_P(runs, sc21_run, ::testing::ValuesIn(testing::read_table("sc21_megatron_table1.csv")),
                         [](const auto& instance) { return testing::test_name(instance.param.text("model")); });

// GPT-NeoX-20B (2204.06745): 117 TFLOP/s on 96 A100s, 1538 sequences of 2048 tokens; 1830 hours for 150,000 steps.
TEST(neox_2022_flops, tie_the_rate_of_gpt_neox_20b_to_its_training_time) {
    const Flops step = neox_2022_flops(load_transformer("gpt-neox-20b"), 1538, 2048);
    expect_close(step.value / (96 * 117e12), 1830.0 * 3600 / 150e3, 0.01);
}

}  // namespace
}  // namespace weft
