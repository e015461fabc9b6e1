#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "models/transformer/transformer.hpp"
#include "tests/models/csv.hpp"
#include "tests/temporary_folder.hpp"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Transformer read(const std::string& text) {
    Document document = Document::parse("model.json", text);
    Transformer model = read_transformer(document.root(), "model");
    document.check();
    return model;
}

std::string error(const std::string& text) {
    try {
        read(text);
    } catch (const ConfigError& problem) {
        return problem.what();
    }
    return "no error";
}

// A sound model with `more` members after its four required ones.
std::string with(const std::string& more) {
    return R"({"layers": 2, "hidden": 64, "heads": 8, "vocabulary": 100)" + (more.empty() ? "" : ", " + more) + "}";
}

TEST(read_transformer, fills_in_what_is_usual) {
    const Transformer model = read(with(""));
    EXPECT_EQ(model.name, "model");
    EXPECT_EQ(model.kv_heads, 8U);
    EXPECT_EQ(model.head_size, 8U);
    EXPECT_EQ(model.ffn_hidden, 256U);
    EXPECT_EQ(model.vocabulary_multiple, 128U);
    EXPECT_EQ(model.positions, Positions::rotary);
    EXPECT_EQ(model.norm, Norm::layer_norm);
    EXPECT_EQ(model.biases, Biases(true));
    EXPECT_FALSE(model.gated || model.tied_embeddings || model.parallel_residual);
}

TEST(read_transformer, takes_every_key) {
    const Transformer model = read(with(
        R"("name": "mine", "title": "t", "source": "s", "kv_heads": 2, "head_size": 16, "ffn_hidden": 48, "gated": true,
           "tied_embeddings": true, "parallel_residual": true, "biases": false, "norm": "rms_norm",
           "positions": "learned", "positions_length": 512, "vocabulary_multiple": 1)"));
    EXPECT_EQ(model.name, "mine");
    EXPECT_EQ(model.kv_heads, 2U);
    EXPECT_EQ(model.head_size, 16U);
    EXPECT_EQ(model.ffn_hidden, 48U);
    EXPECT_EQ(model.positions_length, 512U);
    EXPECT_EQ(model.vocabulary_multiple, 1U);
    EXPECT_EQ(model.positions, Positions::learned);
    EXPECT_EQ(model.norm, Norm::rms_norm);
    EXPECT_TRUE(model.gated && model.tied_embeddings && model.parallel_residual);
    EXPECT_EQ(model.biases, Biases(false));
}

struct Mistake {
    std::string what;
    std::string text;
    std::string message;
};
std::ostream& operator<<(std::ostream& out, const Mistake& mistake) { return out << mistake.what; }
class model_mistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(model_mistake, is_named_at_its_key) { EXPECT_THAT(error(GetParam().text), HasSubstr(GetParam().message)); }

INSTANTIATE_TEST_SUITE_P(
    models, model_mistake,
    ::testing::Values(Mistake{"missing", R"({"hidden": 64, "heads": 8, "vocabulary": 100})", "layers: missing"},
                      Mistake{"unknown", with(R"("kv_head": 2)"), "kv_head: unknown key"},
                      Mistake{"no_count", with(R"("experts": {"top_k": 2})"), "experts.count: missing"},
                      Mistake{"experts", with(R"("experts": {"count": 8, "topk": 2})"),
                              "experts.topk: unknown key, did you mean \"top_k\""},
                      Mistake{"top_k", with(R"("experts": {"count": 8, "top_k": 9})"),
                              "experts.top_k: a token cannot go to 9 of 8 experts"},
                      Mistake{"many", with(R"("experts": {"count": 70000})"),
                              "experts.count: expected at most 65536 experts, got 70000"},
                      Mistake{"shared", with(R"("experts": {"count": 8, "shared_ffn_hidden": 64})"),
                              "experts.shared_ffn_hidden: only a model with shared experts"},
                      Mistake{"first_dense", with(R"("experts": {"count": 8, "first_dense": 2})"),
                              "experts.first_dense: 2 dense layers of 2 leave none to the experts"},
                      Mistake{"every", with(R"("experts": {"count": 8, "every": 0})"),
                              "experts.every: expected an integer of at least 1"},
                      Mistake{"heads", R"({"layers": 1, "hidden": 100, "heads": 8, "vocabulary": 9})",
                              "heads: a hidden size of 100 cannot be divided by 8 heads; give head_size"},
                      Mistake{"kv_heads", with(R"("kv_heads": 3)"),
                              "kv_heads: 8 attention heads cannot be shared out to 3 key-value"},
                      Mistake{"latent", with(R"("latent_attention": {"kv_rank": 4, "nope_size": 4, "rope_size": 2})"),
                              "latent_attention.value_size: missing"},
                      Mistake{"latent_heads", with(R"("kv_heads": 2, "latent_attention": {"kv_rank": 4, "nope_size": 4,
                              "rope_size": 2, "value_size": 4})"),
                              "kv_heads: latent_attention says what keys and values a head has"},
                      Mistake{"no_table", with(R"("positions": "learned")"), "positions_length: missing"},
                      Mistake{"table", with(R"("positions_length": 5)"),
                              "positions_length: only a model with learned positions"},
                      Mistake{"norm", with(R"("norm": "batch_norm")"), "norm: expected one of layer_norm, rms_norm"},
                      Mistake{"layers", R"({"layers": 4000000000, "hidden": 8, "heads": 8, "vocabulary": 9})",
                              "layers: expected at most 1000000, got 4000000000"},
                      Mistake{"huge", R"({"layers": 1000000, "hidden": 1000000, "heads": 8, "vocabulary": 9})",
                              "these sizes make more than 1e+17 parameters"}),
    [](const auto& instance) { return instance.param.what; });

TEST(read_transformer, reports_every_mistake_at_once) {
    const std::string text = error(with(R"("kv_heads": 3, "experts": 8, "norm": 1, "moe": true)"));
    for (const std::string key : {"kv_heads:", "experts:", "norm:", "moe:"}) EXPECT_THAT(text, HasSubstr(key));
}

TEST(read_transformer, takes_latent_attention_in_place_of_heads_sizes) {
    const Transformer model = read(with(R"("latent_attention": {"kv_rank": 16, "q_rank": 24, "nope_size": 8,
                                               "rope_size": 4, "value_size": 6})"));
    EXPECT_TRUE(model.has_latent_attention());
    EXPECT_EQ(model.latent.q_rank, 24U);
    EXPECT_EQ(model.head_size, 12U);
    EXPECT_EQ(query_width(model), 96U);
    EXPECT_EQ(value_width(model), 48U);
    EXPECT_EQ(context_width(model), 48U);
    EXPECT_EQ(qkv_width(model), 96U + 96 + 48);
}

TEST(read_transformer, takes_experts_with_what_is_usual) {
    const Experts experts = read(with(R"("ffn_hidden": 96, "experts": {"count": 8})")).experts;
    EXPECT_EQ(experts.count, 8U);
    EXPECT_EQ(experts.top_k, 1U);
    EXPECT_EQ(experts.ffn_hidden, 96U);
    EXPECT_EQ(experts.shared, 0U);
    EXPECT_EQ(experts.first_dense, 0U);
    EXPECT_EQ(experts.every, 1U);
}

TEST(read_transformer, takes_every_key_of_experts) {
    const Transformer model = read(with(R"("experts": {"count": 8, "top_k": 3, "ffn_hidden": 32, "shared": 2,
                                               "shared_ffn_hidden": 48, "first_dense": 1, "every": 2})"));
    EXPECT_EQ(model.experts.top_k, 3U);
    EXPECT_EQ(model.experts.ffn_hidden, 32U);
    EXPECT_EQ(shared_width(model), 96U);
    EXPECT_EQ(model.experts.first_dense, 1U);
    EXPECT_EQ(model.experts.every, 2U);
}

TEST(read_transformer, needs_no_divisible_hidden_size_beside_a_head_size) {
    const Transformer model = read(R"({"layers": 1, "hidden": 100, "heads": 8, "head_size": 16, "vocabulary": 9})");
    EXPECT_EQ(query_width(model), 128U);
}

TEST(load_transformer, suggests_the_nearest_names) {
    try {
        load_transformer("gpt-neox-20");
        FAIL() << "expected a ConfigError";
    } catch (const ConfigError& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("unknown model \"gpt-neox-20\""));
        EXPECT_THAT(problem.what(), HasSubstr("\"gpt-neox-20b\""));
    }
}

TEST(load_transformer, lists_the_models_if_none_is_near) {
    try {
        load_transformer("quux");
        FAIL() << "expected a ConfigError";
    } catch (const ConfigError& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("a path or one of dbrx, "));
    }
}

TEST(load_transformer, reads_a_path) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path() / "weft_small_model.json";
    std::ofstream(path) << with("");
    EXPECT_EQ(load_transformer(path).name, "weft_small_model");
    EXPECT_THROW(load_transformer("/no/such/model.json"), ConfigError);
}

class catalog : public ::testing::TestWithParam<std::string> {};

TEST_P(catalog, model_names_itself_its_source_and_its_padding) {
    const Transformer model = load_transformer(GetParam());
    EXPECT_EQ(model.name, GetParam());
    EXPECT_GE(padded_vocabulary(model, 1), model.vocabulary);
    Document document = Document::read(std::string(WEFT_SOURCE_DIR) + "/models/catalog/" + GetParam() + ".json");
    if (!model.has_latent_attention() && !document.root().has("head_size")) {
        EXPECT_EQ(model.hidden, model.heads * model.head_size);
    }
    EXPECT_GT(document.root().text("source").size(), 10U);
    EXPECT_GT(document.root().text("title").size(), 3U);
}

TEST_P(catalog, file_in_the_program_is_the_file_in_the_tree) {
    const Document tree = Document::read(std::string(WEFT_SOURCE_DIR) + "/models/catalog/" + GetParam() + ".json");
    Document document = tree;
    const Transformer model = read_transformer(document.root(), GetParam());
    EXPECT_EQ(parameters(model), parameters(load_transformer(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(models, catalog, ::testing::ValuesIn(model_names()),
                         [](const auto& instance) { return testing::test_name(instance.param); });

}  // namespace
}  // namespace weft
