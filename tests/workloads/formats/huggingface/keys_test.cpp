// Keys of Hugging Face's config.json: where they stand, what they may say, and which of them weft cannot represent.
#include "workloads/formats/huggingface/keys.hpp"

#include "tests/workloads/formats/files_read.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

const std::string sizes = R"("hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 100)";

test::FilesRead read(const std::string& keys) { return test::files_read({{"config.json", "{" + keys + "}"}}); }
test::FilesRead small(const std::string& type, const std::string& keys) {
    return read(R"("model_type": ")" + type + "\",\n" + sizes + ",\n" + keys);
}

TEST(huggingface_keys, of_python_are_no_json_where_they_are_infinite) {
    EXPECT_EQ(without_infinities(R"({"a": Infinity, "b": -Infinity, "c": NaN})"),
              R"({"a": 1.0e+300, "b": -1.0e+300, "c": 0.0})");
    EXPECT_EQ(without_infinities(R"({"NaN": "Infinity \" NaN", "x": NaN})"), R"({"NaN": "Infinity \" NaN", "x": 0.0})");
    EXPECT_EQ(small("llama", R"("rope_theta": Infinity, "initializer_range": NaN)").refusal, "");
}

TEST(huggingface_keys, of_the_language_model_stand_in_any_of_its_objects) {
    for (const std::string inner : {"text_config", "llm_config", "language_config"}) {
        test::FilesRead run = read("\"model_type\": \"llava\", \"" + inner + "\": {\"model_type\": \"llama\", " +
                                   sizes + "}, \"vision_config\": {\"hidden_size\": 1024}");
        EXPECT_EQ(run.made["hidden"], 64) << inner << run.refusal;
        EXPECT_THAT(run.notes,
                    Contains("config.json:1: note: vision_config: is left out: the model is its language model"));
    }
}

TEST(huggingface_keys, that_are_listed_for_each_layer_are_the_same_in_all) {
    EXPECT_EQ(small("llama", R"("intermediate_size": [256, 256, 256, 256])").made["ffn_hidden"], 256);
    EXPECT_EQ(small("llama", R"("intermediate_size": [256, 256, 512, 256])").refusal,
              "config.json:3:22: error: intermediate_size: expected the same for every layer");
}

TEST(huggingface_keys, that_weft_cannot_represent_are_refused_by_name) {
    for (const auto& [type, key, why] :
         {std::tuple{"deepseek_v3", R"("attention_bias": true)",
                     "attention_bias: weft's latent attention has biases on all of its maps or on none"},
          {"opt", R"("do_layer_norm_before": false)", "do_layer_norm_before: weft has no norms of the residual itself"},
          {"opt", R"("_remove_final_layer_norm": true)",
           "_remove_final_layer_norm: weft has a norm after the last layer"},
          {"opt", R"("word_embed_proj_dim": 32)",
           "word_embed_proj_dim: weft has no projection between embedding and layers"}})
        EXPECT_THAT(small(type, key).refusal, HasSubstr("config.json:3: error: " + std::string(why)));
    EXPECT_EQ(small("opt", R"("do_layer_norm_before": true, "word_embed_proj_dim": 64)").refusal, "");
}

TEST(huggingface_keys, that_are_null_are_as_if_they_were_not_there) {
    test::FilesRead run = small("mistral", R"("sliding_window": null, "head_dim": null, "num_key_value_heads": 2)");
    EXPECT_FALSE(run.made.contains("attention_window")) << run.refusal;
    EXPECT_FALSE(run.made.contains("head_size"));
    EXPECT_EQ(run.made["kv_heads"], 2);
}

TEST(huggingface_keys, of_dropout_and_weights_are_told_to_be_said_elsewhere) {
    test::FilesRead run = small("llama", R"("attention_dropout": 0.1, "compression_config": {"bits": 4})");
    EXPECT_THAT(run.notes, Contains("config.json:3: note: attention_dropout: is what a job says, by its key dropout"));
    EXPECT_THAT(run.notes, Contains("config.json:3: note: compression_config: is how the weights are stored; a job's "
                                    "precision says the rest"));
    EXPECT_THAT(small("llama", R"("attention_dropout": 0.0)").notes, testing::IsEmpty());
}

// As torch divides: 64 / 6 leaves a rest.
TEST(huggingface_heads, of_a_hidden_size_that_they_do_not_divide_are_as_large_as_classes_round) {
    test::FilesRead run = small("llama", R"("num_attention_heads": 6, "head_dim": 10)");
    EXPECT_THAT(run.refusal, HasSubstr("duplicate")) << "the key is there twice";
    run = read(R"("model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 6,
                  "vocab_size": 100)");
    EXPECT_EQ(run.made["head_size"], 10) << run.refusal;
}

TEST(huggingface_layers, without_rotary_positions_have_no_chunks_where_they_are_listed) {
    test::FilesRead run = small("llama4_text", R"("no_rope_layers": [1, 1, 1, 0], "attention_chunk_size": 32,
                                                  "num_local_experts": 4)");
    EXPECT_EQ(run.made["attention_window"],
              json::parse(R"({"tokens": 32, "chunked": true, "full_rotary": false, "full_every": 4})"))
        << run.refusal;
    EXPECT_THAT(run.notes,
                Contains("config.json:3: note: attention_chunk_size: 3 of 4 layers attend to chunks of 32 tokens"));
    EXPECT_THAT(small("llama4_text", R"("no_rope_layers": [1, 0], "num_local_experts": 4)").refusal,
                HasSubstr("expected as many as there are layers"));
}

TEST(huggingface_layers, are_as_many_as_their_kinds) {
    EXPECT_THAT(small("nemotron_h", R"("hybrid_override_pattern": "M-")").refusal,
                HasSubstr("config.json:3: error: hybrid_override_pattern: expected 4 kinds of layers, got 2"));
    test::FilesRead by_pattern = read(R"("model_type": "nemotron_h", "hidden_size": 64, "num_attention_heads": 8,
        "vocab_size": 100, "hybrid_override_pattern": "M-*-M-", "num_hidden_layers": 6)");
    EXPECT_EQ(by_pattern.made["layers"], 6) << by_pattern.refusal;
}

TEST(huggingface_layers, with_windows_are_those_that_types_say_in_place_of_the_classes_rule) {
    const std::string types = R"("layer_types": ["full_attention", "full_attention", "sliding_attention",
        "sliding_attention"])";
    test::FilesRead run =
        small("qwen3", R"("num_key_value_heads": 8, "sliding_window": 16, "use_sliding_window": true, )" + types);
    EXPECT_EQ(run.made["attention_window"], json::parse(R"({"tokens": 16, "first_full": 2})")) << run.refusal;
    EXPECT_FALSE(
        small("qwen3", R"("num_key_value_heads": 8, "sliding_window": 16, )" + types).made.contains("attention_window"))
        << "unless it is switched on";
}

TEST(huggingface_files, are_told_by_a_type_or_by_an_architecture_of_language_models) {
    const auto format = [](const std::string& text) {
        const Format* const found = find_format({"config.json", text});
        return found == nullptr ? "" : std::string(found->name);
    };
    EXPECT_EQ(format(R"({"model_type": "x"})"), "huggingface");
    EXPECT_EQ(format(R"({"architectures": ["LlamaForCausalLM"]})"), "huggingface");
    EXPECT_EQ(format(R"({"architectures": ["ViTForImageClassification"]})"), "");
    EXPECT_EQ(format(R"(["model_type"])"), "");
    EXPECT_EQ(read(R"("architectures": ["LlamaForCausalLM"])").refusal,
              "config.json:1: error: model_type: expected the model's type, which says what its layers are");
}

}  // namespace
}  // namespace weft
