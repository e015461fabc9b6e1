// --fold from outside: what is simulated for all ranks, and that it does not show in the result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;

// 64 GCDs, one of them slow.
const std::string job =
    "workloads/jobs/frontier-gpt-neox-20b-3d.json --set nodes=8 --set layout.data=4 --set batch.global=64 "
    "--set 'faults.slow_gpus=[{\"rank\": 5, \"factor\": 1.1}]'";

SortedJson simulate(const std::string& arguments) {
    const test::Ran ran = test::run_weft("simulate " + job + " --json " + arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return SortedJson::parse(ran.out);
}

// Paths of all numbers that differ.
std::string differences(const SortedJson& a, const SortedJson& b) {
    std::string text;
    const SortedJson flat = a.flatten(), other = b.flatten();
    for (const auto& [path, value] : flat.items()) {
        if (path.starts_with("/simulation") || !value.is_number()) continue;
        const double x = value, y = other.at(path);
        const bool is_time = path.ends_with("_s");  // small ones are differences of long ones
        const double scale = std::max(std::abs(x), is_time ? a.at("step").at("time_s").get<double>() : 0.0);
        if (std::abs(x - y) > 1e-9 * scale) text += path + "\n";
    }
    return text;
}

TEST(folding_option, makes_no_difference_to_any_reported_number) {
    const SortedJson folded = simulate(""), unfolded = simulate("--no-fold");
    EXPECT_EQ(differences(folded, unfolded), "");
    EXPECT_EQ(unfolded.at("simulation").at("classes"), 64);
    EXPECT_EQ(unfolded.at("simulation").at("folding"), "none");
    EXPECT_LT(folded.at("simulation").at("classes").get<int>(), 64);
    EXPECT_EQ(folded.at("simulation").at("folding"), "exact");
    EXPECT_NE(folded.at("simulation").at("splits").at(0).at("reason").get<std::string>().find("unequal speed"),
              std::string::npos);
}

TEST(folding_option, by_stages_is_a_bound_from_above) {
    const double exact = simulate("").at("step").at("time_s"),
                 bound = simulate("--fold stages").at("step").at("time_s");
    EXPECT_GE(bound, exact * (1 - 1e-9));
    EXPECT_LE(bound, exact * 1.05);
}

TEST(folding_option, rows_of_a_sweep_are_simulations_folded_the_same_way) {
    const std::string vary = "sweep " + job + " --vary layout.tensor=4 --json --fold exact";
    const test::Ran ran = test::run_weft(vary);
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const SortedJson row = SortedJson::parse(ran.out);
    EXPECT_EQ(row.at("step_time_s"), simulate("--fold exact").at("step").at("time_s"));
}

TEST(folding_option, refuses_other_names_and_contradictions) {
    const test::Ran other = test::run_weft("simulate " + job + " --fold most");
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_NE(other.err.find("expected automatic, exact, stages or none, got \"most\""), std::string::npos)
        << other.err;
    EXPECT_EQ(test::run_weft("simulate " + job + " --fold exact --no-fold").exit_code, 2);
    EXPECT_EQ(test::run_weft("simulate " + job + " --fold none --no-fold --json").exit_code, 0);
}

}  // namespace
}  // namespace weft
