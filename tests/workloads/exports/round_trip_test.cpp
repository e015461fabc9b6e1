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

void expect_same_job(std::string_view format_name, std::string_view file, const std::filesystem::path& path) {
    SCOPED_TRACE(path.filename().string());
    const Study study = load_study(path);
    const std::optional<std::string> text = exported(find_export(format_name), study);
    if (!text) return;
    const std::vector<SourceFile> files{{std::string(file), *text}};
    const Import import = import_files(format_of(files, ""), files, {});
    const Study again = read_study(import.object.document(std::string(file)));
    EXPECT_EQ(step_time(again), step_time(study)) << import.object.text();
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
