#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/transformer/flops.hpp"
#include "models/transformer/transformer.hpp"
#include "sim/base/check.hpp"
#include "tests/models/csv.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::plain;
using testing::Row;

class published_model : public ::testing::TestWithParam<Row> {};

TEST_P(published_model, has_the_published_parameters) {
    const Transformer model = load_transformer(GetParam().text("model"));
    EXPECT_EQ(parameters(model), std::stoull(GetParam().text("parameters")));
    const double active = GetParam().number("active_billions");
    const double ours = static_cast<double>(active_parameters(model)) / 1e9;
    EXPECT_NEAR(ours, active == 0 ? static_cast<double>(parameters(model)) / 1e9 : active,
                active == 0 ? 0.0 : 0.6);  // rounded or cut
}

INSTANTIATE_TEST_SUITE_P(models, published_model, ::testing::ValuesIn(testing::read_table("published_parameters.csv")),
                         [](const auto& instance) { return testing::test_name(instance.param.text("model")); });

// 64 layers of 16,384: queries and outputs square, keys and values of 8 heads of 128, a router, 384 gated experts of
// 8,192 of which a token takes 8, two norms; embedding, output layer and the last norm.
TEST(parameters, of_ten_trillion_with_experts) {
    constexpr std::uint64_t h = 16384, expert = 3 * h * 8192, table = 128256 * h;
    constexpr std::uint64_t rest = 2 * h * h + 2 * h * (8 * 128) + h * 384 + 2 * h;
    const Transformer model = load_transformer("moe-10t");
    EXPECT_EQ(parameters(model), 64 * (rest + 384 * expert) + 2 * table + h);
    EXPECT_NEAR(static_cast<double>(parameters(model)), 10e12, 0.1e12);
    EXPECT_EQ(active_parameters(model), 64 * (rest + 8 * expert) + 2 * table + h);
}

// xai-org/grok-1's README: 314B parameters; x.ai/blog/grok-os: 25 % of them active on a token.
TEST(parameters, of_grok_are_about_what_is_said) {
    const Transformer model = load_transformer("grok-1");
    const auto all = static_cast<double>(parameters(model));
    EXPECT_NEAR(all, 314e9, 2e9);
    EXPECT_NEAR(static_cast<double>(active_parameters(model)) / all, 0.25, 0.02);
}

// Brown et al. table 2.1 names them in millions or billions.
TEST(parameters, name_the_small_gpt3_models) {
    const auto billions = [](const char* name) {
        return static_cast<double>(parameters(load_transformer(name))) / 1e9;
    };
    EXPECT_NEAR(billions("gpt3-125m"), 0.125, 0.001);
    EXPECT_NEAR(billions("gpt3-350m"), 0.356, 0.001);
    EXPECT_NEAR(billions("gpt3-760m"), 0.760, 0.001);
    EXPECT_NEAR(billions("gpt3-2.7b"), 2.7, 0.06);
    EXPECT_NEAR(billions("gpt3-6.7b"), 6.7, 0.06);
}

// h = 8; four experts of 6, two shared of 10.
Transformer small() {
    Transformer model = plain(7, 8, 2, 128);
    model.experts = {
        .count = 4, .top_k = 2, .ffn_hidden = 6, .shared = 2, .shared_ffn_hidden = 10, .first_dense = 2, .every = 3};
    return model;
}

TEST(layer_kind, is_expert_at_the_first_of_each_run_after_the_dense_ones) {
    std::string kinds;
    for (std::uint32_t i = 0; i < 7; ++i) kinds += layer_kind(small(), i) == LayerKind::expert ? 'e' : 'd';
    EXPECT_EQ(kinds, "ddedded");
    EXPECT_EQ(layer_kind(plain(7, 8, 2, 128), 2), LayerKind::dense);
}

TEST(expert_layers, are_as_many_as_their_kind_is_found) {
    EXPECT_TRUE(rc::check([] {
        const Transformer model = testing::any_expert_model(1, 2);
        std::uint32_t found = 0;
        for (std::uint32_t i = 0; i < model.layers; ++i) found += layer_kind(model, i) == LayerKind::expert ? 1 : 0;
        RC_ASSERT(found == expert_layers(model));
    }));
}

TEST(layer_modules, of_experts_are_divided_each_in_its_own_way) {
    const LayerSplit split{.tensor = 2, .expert = 2, .expert_tensor = 1};
    const std::vector<Module> modules = layer_modules(small(), LayerKind::expert, split);
    ASSERT_EQ(modules.size(), 8U);
    EXPECT_EQ(modules[4].name, "router");
    EXPECT_THAT(modules[4].tensors, ElementsAre(8 * 4));
    EXPECT_EQ(modules[5].name, "experts");
    EXPECT_THAT(modules[5].tensors, ElementsAre(48, 6, 48, 8, 48, 6, 48, 8));  // two of four, whole
    EXPECT_THAT(modules[5].vector, ElementsAre(false, true, false, true, false, true, false, true));
    EXPECT_THAT(modules[6].tensors, ElementsAre(8 * 10, 10));
    EXPECT_THAT(modules[7].tensors, ElementsAre(10 * 8, 8));
    for (const Module& module : modules) EXPECT_EQ(module.expert, module.name == "experts");
}

TEST(expert_obstacles, name_both_numbers) {
    EXPECT_THAT(expert_obstacles(small(), {.tensor = 3, .expert = 3, .expert_tensor = 4}),
                ElementsAre("4 experts cannot be shared by 3 expert ranks",
                            "6 feed-forward units of an expert cannot be shared by 4 expert-tensor ranks",
                            "20 feed-forward units of the shared experts cannot be shared by 3 tensor ranks"));
    EXPECT_THAT(expert_obstacles(small(), {.tensor = 2, .expert = 4, .expert_tensor = 2}), IsEmpty());
    EXPECT_THAT(expert_obstacles(plain(1, 8, 2, 128), {.expert = 2}),
                ElementsAre("a model without experts cannot be shared by 2 expert ranks"));
}

// 6 FLOPs per parameter of a matrix that a token meets: all active ones but norms, biases (none) and the embedding.
TEST(model_flops, of_experts_are_six_per_active_matrix_parameter) {
    const Transformer model = load_transformer("mixtral-8x7b");
    const double vectors = 4096.0 * (2 * 32 + 1), embedding = 32000.0 * 4096, scores = 12.0 * 32 * 4096 * 2048;
    const double matrices = static_cast<double>(active_parameters(model)) - vectors - embedding;
    EXPECT_DOUBLE_EQ(model_flops(model, 3, 2048).value, 3.0 * 2048 * (6 * matrices + scores));
}

}  // namespace
}  // namespace weft
