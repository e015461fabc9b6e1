// How many nodes a job takes, and how many accelerators of each.
#include "workloads/job/job_reading.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <string>

#include "sim/io/diagnostics.hpp"
#include "workloads/job/job.hpp"

namespace weft {
namespace {

TEST(job_size, whole_nodes_or_the_largest_power_of_two) {
    EXPECT_EQ(size_of(16, 8), (JobSize{2, 8}));
    EXPECT_EQ(size_of(6, 8), (JobSize{1, 8}));   // of one node the first six
    EXPECT_EQ(size_of(12, 8), (JobSize{2, 8}));  // filled in order
    EXPECT_EQ(size_of(64, 72), (JobSize{1, 72}));
    EXPECT_EQ(size_of(72, 72), (JobSize{1, 72}));
    EXPECT_EQ(size_of(256, 72), (JobSize{4, 64}));
    EXPECT_EQ(size_of(576, 72), (JobSize{8, 72}));  // both would do
    EXPECT_EQ(size_of(9216, 72), (JobSize{128, 72}));
    EXPECT_EQ(size_of(100, 72), (JobSize{2, 72}));
}

Study study_of(const std::string& size, const std::string& layout = R"("tensor": 4)", int batch = 2048) {
    return read_study(Document::parse(
        "job.json", fmt::format(R"({{"machine": "gb200-nvl72", {}, "model": "llama3-8b", "framework": "megatron",
                                    "precision": "bf16", "batch": {{"sequence": 4096, "global": {}}},
                                    "layout": {{{}}}}})",
                                size, batch, layout)));
}

TEST(job_size, gpus_stand_for_nodes) {
    const Study study = study_of(R"("gpus": 256)");
    EXPECT_EQ(study.job.nodes, 4U);
    EXPECT_EQ(study.job.ranks_per_node, 64U);
    EXPECT_EQ(study.job.layout.data, 64U);
    EXPECT_EQ(study.job.assumed.size(), 1U);
    EXPECT_EQ(study_of(R"("gpus": 4)").job.layout.ranks(), 4U);  // of 72
}

TEST(job_size, a_job_that_says_its_ranks_takes_as_many_of_each_node) {
    const Study study = study_of(R"("nodes": 4)", R"("tensor": 4, "data": 64)");
    EXPECT_EQ(study.job.ranks_per_node, 64U);
    EXPECT_EQ(study_of(R"("nodes": 4)", R"("tensor": 4, "data": 72)", 2304).job.ranks_per_node, 72U);
}

TEST(job_size, nodes_are_filled_unless_the_batch_cannot_be_dealt_so) {
    EXPECT_EQ(study_of(R"("nodes": 4)", R"("tensor": 4)", 2304).job.layout.ranks(), 288U);
    EXPECT_EQ(study_of(R"("nodes": 4)", R"("tensor": 4)", 2048).job.layout.ranks(), 256U);
}

TEST(job_size, gpus_and_nodes_are_as_many_of_each) {
    EXPECT_EQ(study_of(R"("gpus": 128, "nodes": 4)").job.ranks_per_node, 32U);
    EXPECT_THROW(study_of(R"("gpus": 130, "nodes": 4)"), ConfigError);
}

TEST(job_size, a_machine_grows_to_what_is_asked_and_says_so) {
    const Study study = study_of(R"("gpus": 2048)");
    EXPECT_EQ(study.machine.info().nodes, 32U);
    EXPECT_EQ(study.job.assumed.size(), 2U);
    EXPECT_THROW(study_of(R"("gpus": 65536)"), ConfigError);
}

TEST(job_size, contradictions_are_named) {
    try {
        study_of(R"("gpus": 64)", R"("tensor": 4, "data": 8)");
        FAIL() << "32 ranks are not 64";
    } catch (const ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("the layout has 32 ranks, not 64"), std::string::npos) << error.what();
    }
}

// 576 ranks of expert groups of 32: those that begin at 64 reach into the next rack of 72.
TEST(job_size, groups_that_straddle_racks_are_named) {
    const auto straddling = [](const std::string& size) {
        Document job =
            Document::parse("job.json", R"({"machine": "gb200-nvl72", "model": "qwen3-30b-a3b", "framework": "megatron",
                            "precision": "bf16", "batch": {"sequence": 4096, "global": 2304},
                            "layout": {"expert": 32}})");
        job.assign(size);
        return remarks_on(read_study(std::move(job)).job);
    };
    EXPECT_TRUE(straddling("gpus=64").empty());
    ASSERT_EQ(straddling("gpus=576").size(), 1U);
    EXPECT_NE(straddling("gpus=576").front().find("expert groups of 32 straddle nodes of 72"), std::string::npos);
}

}  // namespace
}  // namespace weft
