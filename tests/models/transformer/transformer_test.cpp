#include "models/transformer/transformer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "sim/base/check.hpp"
#include "tests/models/csv.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

using testing::any_model;
using testing::any_tensor;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::plain;
using testing::Row;

std::vector<std::uint64_t> all_tensors(const std::vector<Module>& modules) {
    std::vector<std::uint64_t> tensors;
    for (const Module& module : modules) tensors.insert(tensors.end(), module.tensors.begin(), module.tensors.end());
    return tensors;
}
std::vector<std::uint64_t> layer_tensors(const Transformer& model, std::uint32_t tensor) {
    return all_tensors(layer_modules(model, LayerKind::dense, {.tensor = tensor}));
}
std::vector<std::uint64_t> embedding_tensors(const Transformer& model, std::uint32_t tensor) {
    return all_tensors(embedding_modules(model, {.tensor = tensor}));
}
std::vector<std::uint64_t> head_tensors(const Transformer& model, std::uint32_t tensor) {
    return all_tensors(head_modules(model, {.tensor = tensor}));
}

std::uint64_t sum(const std::vector<std::uint64_t>& tensors) {
    return std::accumulate(tensors.begin(), tensors.end(), std::uint64_t{0});
}

// GPT-NeoX per tensor rank: 2Vh/t + L(12h^2/t + 7h/t + 6h) + 2h: QKV and h->4h biases are divided (7h), the two norms
// and the row-parallel biases are not (6h).
std::uint64_t neox_parameters(const Transformer& m, std::uint64_t t) {
    const std::uint64_t h = m.hidden, padded = (m.vocabulary + 128 * t - 1) / (128 * t) * (128 * t);
    return 2 * padded * h / t + m.layers * (12 * h * h / t + 7 * h / t + 6 * h) + 2 * h;
}

class neox_configuration : public ::testing::TestWithParam<Row> {
  protected:
    Row row = GetParam();
    Transformer model = load_transformer("gpt-neox-" + lower(row.text("model")));

  private:
    static std::string lower(std::string text) {
        text.back() = text.back() == 'M' ? 'm' : 'b';
        return text;
    }
};

TEST_P(neox_configuration, has_the_shape_of_its_file) {
    EXPECT_EQ(model.layers, row.whole("num_layers"));
    EXPECT_EQ(model.hidden, row.whole("hidden_size"));
    EXPECT_EQ(model.heads, row.whole("num_attention_heads"));
    EXPECT_EQ(model.head_size, row.whole("head_dim"));
    EXPECT_EQ(model.ffn_hidden, row.whole("ffn_hidden"));
    EXPECT_EQ(model.parallel_residual, row.text("gpt_j_residual") == "true");
    EXPECT_EQ(!model.tied_embeddings, row.text("untied_embeddings") == "true");
}

TEST_P(neox_configuration, has_the_published_parameters) {
    EXPECT_EQ(parameters(model), std::stoull(row.text("exact_neox_params_tp1")));
    EXPECT_EQ(model.layers * layer_parameters(model, LayerKind::dense, {.tensor = 1}) + final_norm_parameters(model),
              std::stoull(row.text("non_embedding_params")));
}

TEST_P(neox_configuration, pads_its_vocabulary_to_the_tensor_ranks) {
    for (const std::uint32_t t : {1U, 2U, 4U, 8U}) {
        EXPECT_EQ(padded_vocabulary(model, t), row.whole("vocab_padded_tp" + std::to_string(t)));
    }
}

TEST_P(neox_configuration, gives_every_tensor_rank_its_share) {
    for (const std::uint32_t t : {1U, 2U, 4U, 8U}) {
        if (!tensor_obstacles(model, t).empty()) continue;
        EXPECT_EQ(parameters(model, t), neox_parameters(model, t)) << t;
    }
}

TEST_P(neox_configuration, registers_as_many_tensors_as_the_framework) {
    const std::size_t tensors = model.layers * layer_tensors(model, 1).size() + embedding_tensors(model, 1).size() +
                                head_tensors(model, 1).size();
    EXPECT_EQ(tensors, row.whole("n_param_tensors"));
}

TEST_P(neox_configuration, can_be_shared_where_the_heads_can) {
    const std::string& divides = row.text("tp_divides_heads(2/4/8)");  // "yes/yes/no"
    std::string ours;
    for (const std::uint32_t t : {2U, 4U, 8U}) {
        ours += (ours.empty() ? "" : "/") + std::string(tensor_obstacles(model, t).empty() ? "yes" : "no");
    }
    EXPECT_EQ(ours, divides);
}

INSTANTIATE_TEST_SUITE_P(configs, neox_configuration, ::testing::ValuesIn(testing::read_table("neox_models.csv")),
                         [](const auto& instance) { return testing::test_name(instance.param.text("model")); });

struct PublishedCount {
    std::string model;
    std::uint64_t parameters;
};
std::ostream& operator<<(std::ostream& out, const PublishedCount& count) { return out << count.model; }
class published_count : public ::testing::TestWithParam<PublishedCount> {};

TEST_P(published_count, is_exact) { EXPECT_EQ(parameters(load_transformer(GetParam().model)), GetParam().parameters); }

// Llama 3: sizes of the released checkpoints (8.03, 70.55 and 405.85 billion). Pythia 70M, 160M, 1.4B (1.4B's shape is
// GPT-NeoX 1.3B's). Megatron GPT-3: 174.6 billion (Narayanan et al. 2021 name it 175B; 12Lh^2 + 13Lh + Vh + sh + 2h).
INSTANTIATE_TEST_SUITE_P(
    models, published_count,
    ::testing::Values(PublishedCount{"llama3-8b", 8'030'261'248}, PublishedCount{"llama3-70b", 70'553'706'496},
                      PublishedCount{"llama3-405b", 405'853'388'800}, PublishedCount{"gpt-neox-19m", 70'426'624},
                      PublishedCount{"gpt-neox-125m", 162'322'944}, PublishedCount{"gpt-neox-1.3b", 1'414'647'808},
                      PublishedCount{"gpt3-175b", 174'604'836'864}),
    [](const auto& instance) { return testing::test_name(instance.param.model); });

TEST(parameters, of_gpt_neox_20b_on_two_padded_shares_are_the_published_20_554_567_680) {
    Transformer model = load_transformer("gpt-neox-20b");
    model.vocabulary = 50432;  // the released weights keep the padding of two tensor ranks
    EXPECT_EQ(parameters(model), 20'554'567'680U);
}

TEST(parameters, in_billions_name_the_frontier_recipes) {
    EXPECT_NEAR(static_cast<double>(parameters(load_transformer("frontier-22b"))) / 1e9, 22.0, 0.6);
    EXPECT_NEAR(static_cast<double>(parameters(load_transformer("frontier-175b"))) / 1e9, 175.0, 1.0);
    EXPECT_NEAR(static_cast<double>(parameters(load_transformer("frontier-1t"))) / 1e9, 1008.0, 1.0);
    EXPECT_NEAR(static_cast<double>(parameters(load_transformer("lumi-175b"))) / 1e9, 173.4, 0.1);
}

TEST(layer_tensors, come_in_registration_order) {
    const Transformer gpt = plain(1, 8, 2, 10);  // h = 8: norm, QKV 8x24, dense 8x8, norm, 8x32, 32x8
    EXPECT_THAT(layer_tensors(gpt, 1), ElementsAre(8, 8, 192, 24, 64, 8, 8, 8, 256, 32, 256, 8));
    EXPECT_THAT(layer_tensors(gpt, 2), ElementsAre(8, 8, 96, 12, 32, 8, 8, 8, 128, 16, 128, 8));
}

TEST(layer_tensors, of_a_gated_model_without_biases_are_two_norms_and_four_matrices) {
    Transformer llama = plain(1, 16, 4, 10);  // head size 4; one key-value head of four
    llama.kv_heads = 1;
    llama.ffn_hidden = 24;
    llama.gated = true;
    llama.biases = false;
    llama.norm = Norm::rms_norm;
    EXPECT_THAT(layer_tensors(llama, 1), ElementsAre(16, 16 * (16 + 4 + 4), 16 * 16, 16, 16 * 48, 24 * 16));
}

TEST(embedding_parameters, hold_the_whole_position_table_on_every_rank) {
    Transformer model = plain(1, 8, 2, 256);
    model.positions = Positions::learned;
    model.positions_length = 100;
    EXPECT_EQ(embedding_parameters(model, 2), 128U * 8 + 100 * 8);
}

TEST(head_modules, are_the_norm_alone_if_the_embeddings_are_tied) {
    Transformer model = plain(1, 8, 2, 256);
    EXPECT_EQ(module_parameters(head_modules(model, {.tensor = 2}).at(1)), 128U * 8);
    model.tied_embeddings = true;
    EXPECT_THAT(head_tensors(model, 2), ElementsAre(8, 8));
}

TEST(padded_vocabulary, is_not_padded_by_a_multiple_of_one_on_one_rank) {
    EXPECT_EQ(padded_vocabulary(load_transformer("llama3-8b"), 8), 128256U);
    Transformer model = plain(1, 8, 2, 11);
    model.vocabulary_multiple = 1;
    EXPECT_EQ(padded_vocabulary(model, 1), 11U);
    EXPECT_EQ(padded_vocabulary(model, 4), 12U);  // ranks share rows evenly
}

TEST(tensor_obstacles, name_both_numbers) {
    EXPECT_THAT(tensor_obstacles(load_transformer("gpt-neox-125m"), 8),
                ElementsAre("12 attention heads cannot be shared by 8 tensor ranks"));
    EXPECT_THAT(tensor_obstacles(load_transformer("llama3-8b"), 16), IsEmpty()) << "each head stands on two ranks";
    Transformer few = load_transformer("llama3-8b");
    few.heads = 48;
    few.kv_heads = 6;
    EXPECT_THAT(tensor_obstacles(few, 16), ElementsAre("6 key-value heads cannot be shared by 16 tensor ranks"));
    Transformer odd = plain(1, 8, 2, 10);
    odd.ffn_hidden = 33;
    EXPECT_THAT(tensor_obstacles(odd, 2), ElementsAre("33 feed-forward units cannot be shared by 2 tensor ranks"));
    EXPECT_THAT(tensor_obstacles(load_transformer("llama3-8b"), 8), IsEmpty());
}

TEST(layer_parameters, of_an_indivisible_layer_are_our_mistake) {
    EXPECT_THROW(layer_parameters(load_transformer("gpt-neox-125m"), LayerKind::dense, {.tensor = 5}), LogicError);
}

TEST(parameters, of_all_ranks_are_at_least_the_whole_and_exceed_it_by_what_is_replicated) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = any_tensor();
        const Transformer model = any_model(t);
        RC_ASSERT(tensor_obstacles(model, t).empty());
        RC_ASSERT(parameters(model, t) * t >= parameters(model));
        // Replicated per layer: two norms and the biases of the row-parallel maps (h each).
        const std::uint64_t h = model.hidden, norm = final_norm_parameters(model);
        const std::uint64_t layer = 2 * norm + (model.biases.projection ? 2 * h : 0);
        RC_ASSERT(layer_parameters(model, LayerKind::dense, {.tensor = t}) * t ==
                  layer_parameters(model, LayerKind::dense, {.tensor = 1}) + (t - 1) * layer);
    }));
}

TEST(parameters, are_the_sum_of_the_registered_tensors) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = any_tensor();
        const Transformer model = any_model(t);
        const std::uint64_t total = sum(embedding_tensors(model, t)) + model.layers * sum(layer_tensors(model, t)) +
                                    sum(head_tensors(model, t));
        RC_ASSERT(parameters(model, t) == total);
    }));
}

}  // namespace
}  // namespace weft
