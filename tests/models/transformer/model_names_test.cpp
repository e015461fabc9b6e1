// Models by the names that people and hubs call them, and never by one that another shape has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "models/transformer/transformer.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/shipped.hpp"
#include "tests/temporary_folder.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

std::string called(std::string_view said) {
    const embedded::File* const file = find_called(embedded::catalog(), said);
    return file == nullptr ? "" : std::string(file->name);
}

TEST(model_names, are_those_of_the_hub) {
    const std::map<std::string, std::string> expected{{"meta-llama/Llama-3.1-70B", "llama3-70b"},
                                                      {"meta-llama/Llama-3.3-70B-Instruct", "llama3-70b"},
                                                      {"Meta-Llama-3-8B", "llama3-8b"},
                                                      {"llama-3.1-8b", "llama3-8b"},
                                                      {"meta-llama/Llama-3.1-405B", "llama3-405b"},
                                                      {"Llama-2-7b-hf", "llama2-7b"},
                                                      {"meta-llama/Llama-2-70b-chat-hf", "llama2-70b"},
                                                      {"Llama 2 13B", "llama2-13b"},
                                                      {"EleutherAI/gpt-neox-20b", "gpt-neox-20b"},
                                                      {"GPT-NeoX-20B", "gpt-neox-20b"},
                                                      {"mistralai/Mixtral-8x7B-v0.1", "mixtral-8x7b"},
                                                      {"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"},
                                                      {"mistralai/Mixtral-8x22B-v0.1", "mixtral-8x22b"},
                                                      {"deepseek-ai/DeepSeek-V3", "deepseek-v3"},
                                                      {"deepseek-ai/DeepSeek-V3-Base", "deepseek-v3"},
                                                      {"deepseek-ai/DeepSeek-R1", "deepseek-v3"},
                                                      {"deepseek-ai/deepseek-moe-16b-base", "deepseek-moe-16b"},
                                                      {"EleutherAI/pythia-1.4b", "pythia-1.4b"},
                                                      {"EleutherAI/pythia-6.9b-deduped", "pythia-6.9b"},
                                                      {"databricks/dbrx-base", "dbrx"},
                                                      {"nvidia/Nemotron-4-340B-Base", "nemotron4-340b"},
                                                      {"meta-llama/Llama-4-Scout-17B-16E", "llama4-scout"},
                                                      {"Qwen/Qwen3-30B-A3B", "qwen3-30b-a3b"},
                                                      {"Qwen/Qwen3-235B-A22B", "qwen3-235b-a22b"},
                                                      {"openai/gpt-oss-120b", "gpt-oss-120b"},
                                                      {"moonshotai/Kimi-K2-Instruct", "kimi-k2"},
                                                      {"xai-org/grok-1", "grok-1"},
                                                      {"GPT-3 175B", "gpt3-175b"},
                                                      {"gpt_neox_20b", "gpt-neox-20b"}};
    for (const auto& [said, name] : expected) EXPECT_EQ(called(said), name) << said;
}

TEST(model_names, of_another_shape_are_not_guessed) {
    for (const char* const said : {"meta-llama/Llama-3.2-1B",
                                   "Llama-3-18B",
                                   "Llama-31-8B",
                                   "llama-7b",
                                   "meta-llama/Llama-4-Behemoth",
                                   "Qwen/Qwen3-4B",
                                   "mistralai/Mixtral-8x22B-Instruct-v0.1",
                                   "mistralai/Mixtral-8x22B-v0.3",
                                   "deepseek-ai/DeepSeek-V2-Lite",
                                   "deepseek-ai/DeepSeek-V4-Flash",
                                   "EleutherAI/pythia-14m",
                                   "gpt-neox",
                                   "gpt3",
                                   "Qwen/Qwen2.5-7B",
                                   "8b",
                                   "hf",
                                   "base",
                                   "",
                                   "/",
                                   "-",
                                   "a/llama3-8b/b",
                                   "./llama3-8b",
                                   "/llama3-8b",
                                   "llama3-8b.json"}) {
        EXPECT_EQ(called(said), "") << said;
    }
}

TEST(model_names, are_each_of_one_model) {
    for (const embedded::File& file : embedded::catalog()) {
        EXPECT_EQ(called(file.name), file.name);
        Document document = Document::parse(std::string(file.path), std::string(file.text));
        Field root = document.root();
        if (!root.has("also")) continue;
        for (Field& each : root.list("also")) EXPECT_EQ(called(each.as_text()), file.name) << each.as_text();
    }
}

TEST(model_names, unknown_are_answered_with_the_nearest) {
    try {
        load_transformer("meta-llama/Llama-3.2-1B");
        FAIL() << "expected a ConfigError";
    } catch (const ConfigError& problem) {
        EXPECT_THAT(problem.what(), HasSubstr(R"(unknown model "meta-llama/Llama-3.2-1B", did you mean "llama3-8b")"));
    }
}

TEST(model_names, a_file_that_is_there_goes_before_a_name) {
    const test::TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "meta-llama");
    const std::string said = "meta-llama/Llama-3.1-70B";
    EXPECT_EQ(meant(embedded::catalog(), "model", said, folder.path()), "llama3-70b");
    std::ofstream(folder.path() / said) << R"({"layers": 1, "hidden": 8, "heads": 1, "vocabulary": 9})";
    EXPECT_EQ(meant(embedded::catalog(), "model", said, folder.path()), (folder.path() / said).string());
    EXPECT_EQ(load_transformer((folder.path() / said).string()).hidden, 8U);
    EXPECT_EQ(meant(embedded::catalog(), "model", "llama3-70b", folder.path()), "llama3-70b");
    EXPECT_EQ(meant(embedded::catalog(), "model", "mine.json", folder.path()), (folder.path() / "mine.json").string());
    EXPECT_THROW(meant(embedded::catalog(), "model", "nobody/nothing", folder.path()), ConfigError);
}

TEST(model_synonyms, stand_for_keys_that_a_model_has) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const Synonym& synonym : model_synonyms()) {
        std::istringstream words{std::string(synonym.word)};
        for (std::string word; words >> word;) all.emplace_back(word, synonym.key);
    }
    for (const auto& [word, key] : all) {
        Document document = Document::parse(
            "model.json", R"({"layers": 2, "hidden": 64, "heads": 4, "vocabulary": 99, "experts": {"count": 2},
                "latent_attention": {"kv_rank": 8, "nope_size": 8, "rope_size": 8, "value_size": 8}})");
        document.assign(word + "=1");
        document.assign(key + "=1");
        read_transformer(document.root(), "model");
        std::string text;
        try {
            document.check();
        } catch (const ConfigError& problem) {
            text = problem.what();
        }
        EXPECT_THAT(text, HasSubstr(word + ": unknown key, did you mean \"" + key + "\"?"));
        EXPECT_EQ(text.find("error: " + key + ": unknown key"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace weft
