// What is exported and imported again is the same job: it simulates to the same step, to the digit.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "workloads/exports/export.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

std::optional<std::string> exported(const ExportFormat& format, const Study& study) {
    try {
        return format.job(study);
    } catch (const ConfigError&) {
        return std::nullopt;  // the format cannot say it
    }
}

double step_time(const Study& study) {
    const Simulation run = simulate_step(study, make_plan(study), {});
    return make_report(run).metrics.front().value;
}

void expect_same_job(std::string_view format_name, std::string_view file, const Study& study,
                     const FormatOptions& options = {}) {
    const std::optional<std::string> text = exported(find_export(format_name), study);
    if (!text) return;
    const std::vector<SourceFile> files{{std::string(file), *text}};
    const Import import = import_files(format_of(files, ""), files, options);
    const Study again = read_study(import.object.document(std::string(file)));
    EXPECT_EQ(step_time(again), step_time(study)) << import.object.text();
}

void expect_same_job(std::string_view format_name, std::string_view file, const std::filesystem::path& path) {
    SCOPED_TRACE(path.filename().string());
    expect_same_job(format_name, file, load_study(path));
}

std::vector<std::filesystem::path> shipped_jobs() {
    std::vector<std::filesystem::path> jobs;
    for (const auto& entry : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/workloads/jobs")) {
        if (entry.path().extension() == ".json") jobs.push_back(entry.path());
    }
    std::ranges::sort(jobs);
    return jobs;
}

TEST(exports, a_script_of_megatron_is_the_job_that_it_was_made_of) {
    for (const auto& job : shipped_jobs()) expect_same_job("megatron", "train.sh", job);
}

TEST(exports, a_configuration_of_gpt_neox_is_the_job_that_it_was_made_of) {
    for (const auto& job : shipped_jobs()) expect_same_job("neox", "train.yml", job);
}

Study shipped_job(std::string_view name, const std::vector<std::string>& overrides) {
    return load_study(std::filesystem::path(WEFT_SOURCE_DIR "/workloads/jobs") / name, overrides);
}

// The model and the machine are not in it.
TEST(exports, a_configuration_of_deepspeed_is_the_job_that_it_was_made_of) {
    const FormatOptions options{
        .machine = "frontier", .nodes = 2, .model = "gpt-neox-1.3b", .overrides = {"batch.sequence=2048"}};
    for (const std::string zero : {"1", "2", "3"}) {
        SCOPED_TRACE("stage " + zero);
        const Study study =
            shipped_job("frontier-gpt-neox-13b-zero3.json",
                        {"model=gpt-neox-1.3b", "nodes=2", "layout={}", "batch={\"micro\": 2, \"global\": 64}",
                         "zero=" + zero, "deepspeed={\"partition_activations\": true}", "recompute=full",
                         "attention=flash", "bucket_elements=2e8"});
        ASSERT_TRUE(exported(find_export("deepspeed"), study));
        expect_same_job("deepspeed", "ds_config.json", study, options);
    }
}

TEST(exports, a_configuration_of_torchtitan_is_the_job_that_it_was_made_of) {
    for (const std::string strategy : {"full_shard", "shard_grad_op", "hybrid_shard"}) {
        SCOPED_TRACE(strategy);
        const Study study =
            shipped_job("dgx-h100-llama3-8b-fsdp.json",
                        {"fsdp={\"version\": 2, \"strategy\": \"" + strategy + "\", \"reduce_precision\": \"fp32\"}"});
        ASSERT_TRUE(exported(find_export("torchtitan"), study));
        expect_same_job("torchtitan", "run.toml", study);
    }
}

TEST(exports, torchtitan_has_no_model_of_another_shape) {
    const Study study = shipped_job("dgx-h100-llama3-8b-fsdp.json", {"model=llama2-13b", "fsdp.version=1"});
    const Study other = shipped_job("dgx-h100-llama3-8b-fsdp.json", {"model=pythia-1.4b"});
    EXPECT_FALSE(exported(find_export("torchtitan"), study));
    EXPECT_FALSE(exported(find_export("torchtitan"), other));
}

TEST(exports, what_a_format_cannot_say_is_refused_all_at_once) {
    const Study study = load_study(WEFT_SOURCE_DIR "/workloads/jobs/frontier-gpt-neox-20b-3d.json");
    try {
        find_export("megatron").job(study);
        FAIL() << "exported";
    } catch (const ConfigError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("framework: expected megatron"), std::string::npos) << text;
        EXPECT_NE(text.find("model.parallel_residual"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace weft
