// What other tools write, and names as people say them, wherever a command takes a job, a model or a machine.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using nlohmann::json;

class other_tools : public testing::Test {
  protected:
    void SetUp() override {
        std::ofstream(folder_.path() / "ds.conf") << R"({
            "train_micro_batch_size_per_gpu": 2, "train_batch_size": 64, "bf16": {"enabled": true},
            "zero_optimization": {"stage": 1}})";
        std::ofstream(folder_.path() / "small") << R"({
            "layers": 4, "hidden": 256, "heads": 4, "vocabulary": 1024})";
        std::ofstream(folder_.path() / "job.json") << R"({
            "machine": "DGX H100", "nodes": 1, "model": "small", "framework": "megatron",
            "batch": {"sequence": 512, "micro": 1, "global": 32}})";
    }

    test::Ran run(const std::string& arguments) const { return test::run_weft(arguments, folder_.path()); }
    test::Ran run_configuration(const std::string& command) const {
        return run(command + " ds.conf --model small --machine 'DGX A100' --nodes 1");
    }

    test::TemporaryFolder folder_;
};

TEST_F(other_tools, give_jobs_to_every_command_that_takes_one) {
    for (const std::string command : {"simulate", "check", "volume", "volume --view paper", "plan --simulate 1",
                                      "sweep --vary batch.sequence=512,1024", "export --format deepspeed"}) {
        const test::Ran ran = run_configuration(command);
        EXPECT_EQ(ran.exit_code, 0) << command << "\n" << ran.err;
        EXPECT_FALSE(ran.out.empty()) << command;
    }
}

TEST_F(other_tools, need_no_job_where_model_and_machine_are_named) {
    for (const std::string command :
         {"simulate", "check", "volume", "plan --simulate 1", "sweep --vary batch.micro=1,2"}) {
        const test::Ran ran =
            run(command + " --model EleutherAI/pythia-160m --machine 'DGX H100' --nodes 1 --set batch.global=32");
        EXPECT_EQ(ran.exit_code, 0) << command << "\n" << ran.err;
        EXPECT_FALSE(ran.out.empty()) << command;
        EXPECT_NE(ran.err.find("batch.sequence: 4096 is assumed"), std::string::npos) << command << "\n" << ran.err;
    }
}

TEST_F(other_tools, a_model_beside_a_job_is_found_under_any_name) {
    const test::Ran here = run("simulate job.json --json");
    ASSERT_EQ(here.exit_code, 0) << here.err;
    EXPECT_EQ(json::parse(here.out).at("job").at("model").at("hidden"), 256);
    const test::Ran elsewhere = test::run_weft("check " + (folder_.path() / "job.json").string());
    EXPECT_EQ(elsewhere.exit_code, 0) << elsewhere.err;
    const test::Ran page = test::run_weft("simulate " + (folder_.path() / "job.json").string() + " --report " +
                                          (folder_.path() / "page.html").string());
    EXPECT_EQ(page.exit_code, 0) << page.err;
}

TEST_F(other_tools, models_are_printed_with_their_parameters) {
    const std::string named = "small (3.68M parameters)";  // 4 x 12 x 256^2 + 2 x 1024 x 256, biases and norms
    for (const std::string command : {"simulate", "check", "volume", "plan --simulate 1"}) {
        const test::Ran ran = run(command + " job.json");
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        const std::string first = ran.out.substr(0, ran.out.find('\n'));
        EXPECT_NE(first.find(named), std::string::npos) << command << ": " << first;
    }
    const test::Ran experts = test::run_weft("check mistralai/Mixtral-8x7B-v0.1");
    EXPECT_EQ(experts.exit_code, 0) << experts.err;
    EXPECT_NE(experts.out.find("mixtral-8x7b (46.7B parameters, 12.9B active)"), std::string::npos) << experts.out;
}

TEST_F(other_tools, words_are_answered_with_the_key) {
    const test::Ran ran = run("simulate job.json --set tp=8");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_EQ(ran.err, "--set: error: tp: unknown key, did you mean \"layout.tensor\"?\n");
    const test::Ran swept = run("sweep job.json --vary tp=1,2");
    EXPECT_NE((swept.out + swept.err).find("did you mean \"\"layout.tensor\"\"?"), std::string::npos) << swept.out;
    EXPECT_NE(run("plan job.json --fix pp=2").err.find("did you mean \"layout.pipeline\"?"), std::string::npos);
}

TEST_F(other_tools, json_describes_the_job_as_data) {
    const json job = json::parse(run("simulate job.json --set layout.tensor=2 --json").out).at("job");
    EXPECT_EQ(job.at("model").at("parameters"), job.at("model").at("active_parameters"));
    EXPECT_EQ(job.at("model").at("layers"), 4);
    EXPECT_EQ(job.at("layout").at("tensor"), 2);
    EXPECT_EQ(job.at("layout").at("data"), 4);
    EXPECT_EQ(job.at("layout").at("order"), "tensor,context,data,pipeline");
    EXPECT_EQ(job.at("batch"), json({{"sequence", 512}, {"micro", 1}, {"global", 32}, {"micro_batches", 8}}));
    EXPECT_EQ(job.at("machine").at("name"), "dgx-h100");
    EXPECT_EQ(job.at("machine").at("accelerators"), 8);
    EXPECT_EQ(job.at("framework"), "megatron");
    EXPECT_EQ(job.at("framework_version"), "core-0.8");
    EXPECT_EQ(job.at("overrides"), json({"layout.tensor=2"}));
    const json counted = json::parse(run("volume job.json --set layout.tensor=2 --json").out).at("job");
    EXPECT_EQ(counted.at("input_digest"), job.at("input_digest"));
    EXPECT_EQ(counted.at("model"), job.at("model"));
    const json planned = json::parse(run("plan job.json --simulate 1 --json").out).at("job");
    EXPECT_EQ(planned.at("model"), job.at("model"));
    EXPECT_FALSE(planned.at("layout").contains("tensor"));  // searched for
    EXPECT_FALSE(planned.at("batch").contains("micro"));
}

TEST_F(other_tools, equal_digests_are_of_equal_inputs) {
    const auto digest = [&](const std::string& arguments) {
        return json::parse(run("check job.json --json " + arguments).out)
            .at("job")
            .at("input_digest")
            .get<std::string>();
    };
    const std::string before = digest("");
    EXPECT_EQ(before.size(), 64U);
    EXPECT_EQ(digest(""), before);
    EXPECT_NE(digest("--set batch.micro=2"), before);
    std::ofstream(folder_.path() / "small") << R"({"layers": 5, "hidden": 256, "heads": 4, "vocabulary": 1024})";
    EXPECT_NE(digest(""), before);
}

TEST_F(other_tools, launch_scripts_of_a_plan_stand_alone_on_stdout) {
    const test::Ran ran = run("plan job.json --simulate 2 --launch megatron");  // without a format the best is zb-h1
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out.substr(0, 2), "#!") << ran.out;
    EXPECT_NE(ran.out.find("--hidden-size 256"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find("candidates"), std::string::npos);
    EXPECT_NE(ran.err.find("candidates"), std::string::npos);
}

}  // namespace
}  // namespace weft
