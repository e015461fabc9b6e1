
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/io/diagnostics.hpp"
#include "sim/io/embedded.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/serve/site.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/job/job.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;

std::string asked(const std::string& query) {
    return requested_job({.method = "GET", .target = "", .body = ""}, parse_target("/simulate?" + query).value()).text;
}

std::string posted(const std::string& body) {
    return requested_job({.method = "POST", .target = "", .body = body}, parse_target("/simulate").value()).text;
}

std::vector<Diagnostic> mistakes(const std::string& query) {
    try {
        asked(query);
    } catch (const ConfigError& error) {
        return error.diagnostics();
    }
    return {};
}

// An address holds whole jobs: what is read back is what a file says.
TEST(requested_job, an_address_holds_every_shipped_job) {
    ASSERT_FALSE(embedded::jobs().empty());
    for (const embedded::File& file : embedded::jobs()) {
        const std::string text(file.text);
        const std::string read_back = asked(query_of(parameters_of(text)));
        EXPECT_EQ(SortedJson::parse(read_back), SortedJson::parse(text, nullptr, true, true)) << file.name;
    }
}

TEST(requested_job, an_address_holds_objects_and_texts_that_look_like_numbers) {
    const std::string job =
        R"({"machine": {"extends": "frontier", "node.nics": 2}, "model": "gpt-neox-20b",
            "layout": {"split": [1, 2], "tensor": 4}, "precision": "8", "recompute": {"modules": ["mlp"]},
            "fabric": {"background": {"slingshot.global": 0.3}}})";
    EXPECT_EQ(SortedJson::parse(asked(query_of(parameters_of(job)))), SortedJson::parse(job));
}

TEST(requested_job, keeps_what_is_posted_to_the_letter) {
    const std::string job = "// by hand\n{\"machine\": \"frontier\", \"model\": \"gpt-neox-20b\"}";
    EXPECT_EQ(posted(job), job);
    EXPECT_THROW(posted("{\"machine\": "), ConfigError);
    EXPECT_THROW(posted(std::string(100'000, '[')), ConfigError);
}

TEST(requested_job, what_is_empty_is_not_said) {
    EXPECT_EQ(SortedJson::parse(asked("nodes=&machine=frontier&layout.tensor=")),
              SortedJson::parse(R"({"machine": "frontier"})"));
}

// A file of the working folder may have the other name.
TEST(requested_job, names_are_put_as_weft_has_them) {
    const SortedJson job = SortedJson::parse(asked("machine=LUMI&model=meta-llama/Llama-2-7b-hf"));
    EXPECT_EQ(job["machine"], "lumi-g");
    EXPECT_EQ(job["model"], "llama2-7b");
    const SortedJson inner =
        SortedJson::parse(posted(R"({"machine": {"extends": "LUMI"}, "model": {"extends": "Llama-2-7b-hf"}})"));
    EXPECT_EQ(inner["machine"]["extends"], "lumi-g");
    EXPECT_EQ(inner["model"]["extends"], "llama2-7b");
}

TEST(requested_job, tells_all_mistakes_with_the_nearest_names) {
    const std::vector<Diagnostic> found = mistakes("machine=frontir&model=gpt-neox-20&zero=7&layuot.tensor=2");
    std::vector<std::string> keys;
    for (const Diagnostic& each : found) keys.push_back(each.key);
    EXPECT_THAT(keys, testing::UnorderedElementsAre("machine", "model", "zero", "layuot", "batch"));
    EXPECT_THAT(found.front().message, testing::HasSubstr("did you mean \"frontier\""));
}

TEST(self_contained_job, holds_what_files_beside_it_say) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / "mine.json") << R"({"extends": "dgx-h100", "nodes": 3})";
    std::ofstream(folder.path() / "small.json") << R"({"extends": "llama3-8b", "layers": 4})";
    std::ofstream(folder.path() / "job.json") << R"({"machine": "mine.json", "nodes": 1,
        "model": {"extends": "small.json", "vocabulary": 32000}, "batch": {"global": 8}})";
    const std::string text = self_contained_job(open_job(folder.path() / "job.json", {}).document);
    EXPECT_EQ(SortedJson::parse(text)["machine"], SortedJson::parse(R"({"extends": "dgx-h100", "nodes": 3})"));
    const Study served = read_study(Document::parse(requested_name, posted(text)));
    const Study own = load_study(folder.path() / "job.json");
    EXPECT_EQ(served.job.model.layers, 4u);
    EXPECT_EQ(served.job.model.vocabulary, 32000u);
    EXPECT_EQ(served.machine.info().nodes, 3u);
    EXPECT_EQ(served.job.layout.data, own.job.layout.data);
    EXPECT_EQ(SortedJson::parse(asked(query_of(parameters_of(text)))), SortedJson::parse(text));
}

// A configuration of another tool has no name that weft ships.
TEST(self_contained_job, holds_what_files_of_other_tools_say) {
    const test::TemporaryFolder folder;
    std::filesystem::copy_file(WEFT_SOURCE_DIR "/tests/workloads/formats/seeds/huggingface.json",
                               folder.path() / "config.json");
    std::ofstream(folder.path() / "job.json")
        << R"({"machine": "frontier", "nodes": 1, "model": "config.json", "batch": {"global": 8}})";
    const std::string text = self_contained_job(open_job(folder.path() / "job.json", {}).document);
    const Study served = read_study(Document::parse(requested_name, posted(text)));
    EXPECT_EQ(served.job.model.hidden, load_study(folder.path() / "job.json").job.model.hidden);
}

TEST(self_contained_job, refuses_files_that_do_not_go_into_it) {
    Document job = Document::parse("job.json", R"({"machine": "frontier", "fabric": {"placement": "file:hosts"}})");
    EXPECT_THROW(self_contained_job(std::move(job)), ConfigError);
}

}  // namespace
}  // namespace weft
