// Jobs and models by what the user says: files, names in their place, and texts.
#include "workloads/formats/job_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

std::string refusal(const JobSource& source, const std::vector<std::string>& overrides = {}) {
    return test::refusal_of([&] { open_job(source, overrides); });
}

JobSource text_of(std::string text) {
    JobSource source("job.json");
    source.text = std::move(text);
    return source;
}

// Half of a GPU of 80 GB for 18 bytes of each parameter, a power of two: 8.03, 70.55 and 405.85 billion.
TEST(job_file, a_model_in_place_of_a_job_is_answered_with_a_run_of_it) {
    for (const auto& [name, gpus] : {std::pair{"llama3-8b", "8"}, {"llama3-70b", "32"}, {"llama3-405b", "256"}})
        EXPECT_THAT(refusal(name), HasSubstr(std::string(name) + " is a model: weft simulate --model " + name +
                                             " --machine dgx-h100 --gpus " + gpus))
            << name;
}

TEST(job_file, other_names_in_place_of_a_job_are_answered_with_what_they_are) {
    EXPECT_THAT(refusal("frontier"),
                HasSubstr("frontier: error: is no file; a job is a JSON file with model, machine, layout and batch, or "
                          "what another framework is configured with. frontier is a machine: weft simulate --model "
                          "llama3-8b --machine frontier --gpus 64"));
    EXPECT_THAT(refusal("frontier-gpt-neox-20b-3d"),
                HasSubstr(". A job of that name is workloads/jobs/frontier-gpt-neox-20b-3d.json of weft's sources"));
    const std::string nothing = refusal("no-such-thing");
    EXPECT_TRUE(nothing.ends_with("is configured with")) << nothing;
    EXPECT_THAT(refusal(std::string(5000, 'x')), HasSubstr("is no file")) << "no file has so long a name";
}

const std::string deepspeed =
    R"({"train_micro_batch_size_per_gpu": 2, "train_batch_size": 32, "bf16": {"enabled": true}})";

TEST(job_file, of_another_program_is_a_job_with_what_the_user_says) {
    const std::vector<std::string> said{"machine=frontier", "nodes=2", "model=gpt-neox-125m", "batch.sequence=64"};
    OpenedJob job = open_job(text_of(deepspeed), said);
    EXPECT_EQ(job.document.root().text("framework"), "deepspeed");
    EXPECT_EQ(job.document.root().object("batch").count("sequence"), 64U);
    EXPECT_EQ(job.document.root().count("nodes"), 2U);
    EXPECT_FALSE(job.notes.empty());
}

TEST(job_file, of_wefts_own_takes_assignments_as_they_are) {
    const std::vector<std::string> said{"nodes=2", "batch.micro=4"};
    OpenedJob job = open_job(text_of(R"({"machine": "frontier", "nodes": 1})"), said);
    EXPECT_EQ(job.document.root().count("nodes"), 2U);
    EXPECT_EQ(job.document.root().object("batch").count("micro"), 4U);
    EXPECT_TRUE(job.notes.empty());
    EXPECT_THAT(refusal(text_of("{\"nodes\": ")), HasSubstr("job.json:1"));
}

TEST(job_file, of_another_kind_is_refused_by_what_it_is) {
    EXPECT_EQ(refusal(text_of(R"({"model_type": "gpt2"})")),
              "job.json: error: is a model (Hugging Face config.json), not a job");
    const test::TemporaryFolder folder;
    const std::string path = folder.path() / "ds.json";
    std::ofstream(path)
        << R"({"train_batch_size": 8, "weft": {"machine": "frontier", "nodes": "1", "model": "gpt-neox-125m"}})";
    const std::string told = test::refusal_of([&] { open_model(path); });
    EXPECT_EQ(told, path + ": error: is a job (DeepSpeed configuration), not a model");
}

TEST(job_file, numbers_of_nodes_and_gpus_are_options_where_they_are_numbers) {
    const FormatOptions options = format_options(std::vector<std::string>{"gpus=64", "nodes=0", "model={}", "="});
    EXPECT_EQ(options.gpus, 64U);
    EXPECT_EQ(options.nodes, 0U);
    EXPECT_EQ(options.model, "");
    EXPECT_EQ(options.overrides, (std::vector<std::string>{"nodes=0", "model={}", "="}));
}

TEST(job_file, a_model_is_called_as_its_file) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path() / "pythia-1.4b.json";
    std::ofstream(path) << R"({"extends": "gpt-neox-125m", "layers": 3})";
    const Transformer model = load_model(path);
    EXPECT_EQ(model.name, "pythia-1.4b");
    EXPECT_EQ(model.layers, 3U);
    EXPECT_EQ(model.hidden, load_model("gpt-neox-125m").hidden);
}

}  // namespace
}  // namespace weft
