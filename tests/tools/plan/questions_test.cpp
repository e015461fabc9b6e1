// Questions without a layout, as a user asks them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Small searches: one order of passes, no context ranks.
const std::string small = " --fix layout.context=1 --fix layout.pipeline=1 --simulate 2";

TEST(questions, a_name_in_place_of_a_file_prints_a_command_that_works) {
    const test::Ran ran = test::run_weft("simulate pythia-1b");
    EXPECT_EQ(ran.exit_code, 3);
    const std::string command = "weft simulate --model pythia-1b --machine dgx-h100 --gpus 8";
    EXPECT_TRUE(has(ran.err, command)) << ran.err;
    EXPECT_EQ(test::run_weft(command.substr(5)).exit_code, 0);
    EXPECT_TRUE(has(test::run_weft("simulate lumi-g").err, "lumi-g is a machine"));
    EXPECT_TRUE(has(test::run_weft("simulate nothing.json").err, "is no file"));
    EXPECT_TRUE(has(test::run_weft("simulate " + std::string(3000, 'n') + ".json").err, "is no file"));
}

TEST(questions, a_step_without_a_layout_takes_the_best_and_says_which) {
    const std::string asked = "--model pythia-1b --machine dgx-h100 --gpus 16 --global 64 --set layout.context=1";
    const test::Ran own = test::run_weft("simulate " + asked + " --json");  // says a layout: data parallel
    const test::Ran ran = test::run_weft("simulate --model pythia-1b --machine dgx-h100 --gpus 16 --global 64 --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_TRUE(has(ran.err, "the fastest of ")) << ran.err;
    EXPECT_FALSE(has(own.err, "the fastest of ")) << own.err;
    EXPECT_LE(SortedJson::parse(ran.out)["step"]["time_s"].get<double>(),
              SortedJson::parse(own.out)["step"]["time_s"].get<double>());
}

TEST(questions, machines_stand_side_by_side_with_run_and_cost) {
    const test::Ran ran = test::run_weft(
        "plan --model pythia-1b --machines dgx-h100,gb200-nvl72 --gpus 64 --global 256 "
        "--tokens 300B --price 2.5,6 --json" +
        small);
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const SortedJson machines = SortedJson::parse(ran.out)["machines"];
    ASSERT_EQ(machines.size(), 2U);
    for (const auto& [place, price] : {std::pair(0U, 2.5), std::pair(1U, 6.0)}) {
        const SortedJson& one = machines[place];
        EXPECT_EQ(one["gpus"], 64);
        EXPECT_NEAR(one["run"]["cost"].get<double>(), price * 64 * one["run"]["time_s"].get<double>() / 3600, 1);
        EXPECT_GT(one["run"]["energy_j"].get<double>(), 0);
        // Of a run without failures and checkpoints.
        EXPECT_GE(one["run"]["time_s"].get<double>(), 300e9 / one["tokens_per_s"].get<double>() * 0.999);
    }
}

TEST(questions, machines_on_which_no_layout_fits_say_so) {
    const test::Ran ran = test::run_weft("plan --model gpt3-175b --machines dgx-h100 --gpus 8 --global 64");
    EXPECT_EQ(ran.exit_code, 4) << ran.err;
    EXPECT_TRUE(has(ran.out, "none fits")) << ran.out;
}

TEST(questions, machines_take_no_files_of_one_machine) {
    EXPECT_EQ(test::run_weft("plan --model pythia-1b --machines dgx-h100,lumi-g --gpus 64 --report p.html").exit_code,
              2);
    EXPECT_EQ(test::run_weft("plan --model pythia-1b --machines dgx-h100 --gpus 64 --price 2").exit_code, 2);
    EXPECT_EQ(test::run_weft("plan --model pythia-1b --machines dgx-h100 --gpus 8 --tokens 1B --price 1,2").exit_code,
              2);
}

TEST(questions, what_is_impossible_comes_with_what_would_do) {
    const std::string asked = "plan --model pythia-1b --machine gb200-nvl72 --global 256" + small;
    const test::Ran ran = test::run_weft(asked + " --gpus 576");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_TRUE(has(ran.out, "576 ranks on 8 nodes")) << ran.out;
    EXPECT_TRUE(has(ran.out, "would do: gpus=512, or gpus=1024, or batch.global=")) << ran.out;
    EXPECT_EQ(test::run_weft(asked + " --gpus 512").exit_code, 0);
}

}  // namespace
}  // namespace weft
