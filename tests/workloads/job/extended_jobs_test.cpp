// Jobs whose machine or model is another one with changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "workloads/job/job.hpp"
#include "workloads/job/job_reading.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

std::string job_with(const std::string& machine, const std::string& model) {
    return R"({"machine": )" + machine + R"(, "model": )" + model + R"(,
        "nodes": 2, "layout": {"tensor": 8}, "batch": {"global": 16}})";
}

Study study(const std::string& text, const std::vector<std::string>& overrides = {}, const StudySources& sources = {}) {
    Document document = Document::parse("job.json", text);
    for (const std::string& assignment : overrides) document.assign(assignment);
    return read_study(std::move(document), Purpose::simulation, sources);
}

std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {}) {
    try {
        static_cast<void>(study(text, overrides));
        return "fine";
    } catch (const ConfigError& error) {
        return error.what();
    }
}

BytesPerSecond nominal(const Study& study, std::string_view name) {
    for (const LinkClass& each : study.machine.topology(2).classes) {
        if (each.name == name) return each.nominal;
    }
    return {};
}

const std::string plain = job_with(R"("dgx-h100")", R"("llama3-8b")");

TEST(extended_jobs, a_machine_and_a_model_with_changes) {
    const Study changed = study(job_with(R"({"extends": "dgx-h100", "nodes": 64,
        "links": {"infiniband.nic": {"bandwidth": "800 Gbit/s"}}})",
                                         R"({"extends": "llama3-8b", "layers": 16})"));
    EXPECT_EQ(changed.machine.info().nodes, 64U);
    EXPECT_EQ(changed.machine.info().name, "dgx-h100, changed");
    EXPECT_EQ(nominal(changed, "infiniband.nic"), 100_GBps);
    EXPECT_EQ(changed.job.model.layers, 16U);
    EXPECT_EQ(changed.job.model.hidden, study(plain).job.model.hidden);
    EXPECT_EQ(changed.job.model.name, "llama3-8b, changed");
}

TEST(extended_jobs, assignments_change_what_is_named) {
    const Study changed =
        study(plain, {"machine.links.infiniband.nic.bandwidth.nominal=800 Gbit/s", "machine.links.nvlink.latency=1 us",
                      "model.layers=4", "machine.network.levels[0].cables=1",
                      "machine.libraries[0].costs.ring_ll.step_across=9 us"});
    EXPECT_EQ(nominal(changed, "infiniband.nic"), 100_GBps);
    EXPECT_EQ(changed.job.model.layers, 4U);
    EXPECT_LT(changed.machine.info().bisection, study(plain).machine.info().bisection);
    EXPECT_EQ(changed.machine.info().library().costs.front().step_across, 9_us);
}

TEST(extended_jobs, what_is_written_alike_is_read_once) {
    const StudySources sources;
    const std::vector<std::string> fast{"machine.links.nvlink.bandwidth=900 GB/s"};
    const Study first = study(plain, fast, sources), again = study(plain, fast, sources);
    const Study other = study(plain, {"machine.links.nvlink.bandwidth=901 GB/s"}, sources);
    EXPECT_TRUE(first.machine.is_copy_of(again.machine));
    EXPECT_FALSE(first.machine.is_copy_of(other.machine));
}

TEST(extended_jobs, mistakes_are_told_where_they_were_made) {
    EXPECT_THAT(
        refusal(job_with(R"({"extends": "dgx-h100", "links": {"nvlink": {"bandwidth": "fast"}}})", R"("llama3-8b")")),
        HasSubstr("job.json:1:71: error: machine.links.nvlink.bandwidth: expected a quantity such as"));
    EXPECT_THAT(refusal(plain, {"machine.links.nvlink.bandwidth=fast"}),
                HasSubstr("--set: error: machine.links.nvlink.bandwidth"));
    EXPECT_THAT(refusal(plain, {"machine.nodez=5"}),
                HasSubstr("--set: error: machine.nodez: unknown key, did you mean"));
    EXPECT_THAT(refusal(plain, {"model.layerz=5"}), HasSubstr("--set: error: model.layerz: unknown key, did you mean"));
    EXPECT_THAT(refusal(job_with(R"({"extends": "dgx-h1000"})", R"("llama3-8b")")),
                HasSubstr("job.json:1:25: error: machine.extends: no machine is called \"dgx-h1000\", did you mean"));
    EXPECT_THAT(refusal(job_with(R"("dgx-h100")", R"({"extends": "llama3-8c"})")),
                HasSubstr("model.extends: unknown model \"llama3-8c\", did you mean"));
    EXPECT_THAT(refusal(plain, {"precision.x=1", "precision=bf16"}), HasSubstr("fine"));
    EXPECT_THAT(refusal(plain, {"nodes.x=1"}), HasSubstr("cannot be set: nodes is 2"));
}

class extended_files : public testing::Test {
  protected:
    std::filesystem::path write(const std::string& name, const std::string& text) {
        const std::filesystem::path path = folder_ / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path;
    }
    ~extended_files() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) /
        ("extended_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(extended_files, paths_go_from_file_to_file) {
    write("machines/near.json", R"({"extends": "dgx-h100", "nodes": 40})");
    write("machines/mine.json", R"({"extends": "near.json", "title": "mine"})");
    write("models/wide.json", R"({"extends": "llama3-8b", "ffn_hidden": 20000})");
    const std::filesystem::path job = write(
        "jobs/job.json", job_with(R"("../machines/mine.json")", R"({"extends": "../models/wide.json", "layers": 8})"));
    const Study read = load_study(job, {}, Purpose::simulation);
    EXPECT_EQ(read.machine.info().nodes, 40U);
    EXPECT_EQ(read.machine.info().name, "mine");
    EXPECT_EQ(read.machine.info().title, "mine");
    EXPECT_EQ(read.job.model.ffn_hidden, 20000U);
    EXPECT_EQ(read.job.model.layers, 8U);
    const std::vector<std::string> changes{"machine.nodes=30"};
    EXPECT_EQ(load_study(job, changes, Purpose::simulation).machine.info().name, "mine, changed");
}

TEST_F(extended_files, a_circle_is_refused) {
    write("near.json", R"({"extends": "far.json"})");
    write("far.json", R"({"extends": "near.json"})");
    const std::filesystem::path job = write("job.json", job_with(R"("near.json")", R"("llama3-8b")"));
    try {
        load_study(job, {}, Purpose::simulation);
        FAIL() << "a circle was read";
    } catch (const ConfigError& error) {
        EXPECT_THAT(error.what(), HasSubstr("extends itself"));
    }
}

}  // namespace
}  // namespace weft
