// `weft run` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using test::run_weft;
using ::testing::HasSubstr;

const std::string job = "run workloads/jobs/frontier-gpt-neox-20b-3d.json ";

TEST(run_command, prints_the_same_bytes_whatever_the_threads) {
    const std::string arguments = job + "--steps 2000000 --samples 200 --seed 3 --price 1.5 --json --jobs ";
    const test::Ran one = run_weft(arguments + "1");
    EXPECT_EQ(one.exit_code, 0) << one.err;
    EXPECT_EQ(run_weft(arguments + "4").out, one.out);
    const auto json = nlohmann::json::parse(one.out);
    EXPECT_LT(json["time_s"]["p5"], json["time_s"]["p95"]);
    EXPECT_LT(json["goodput"]["p50"], 1.0);
    EXPECT_GT(json["energy_j"]["p50"], 0.0);
    EXPECT_GT(json["cost"]["p50"], 0.0);
    EXPECT_GT(json["failures"]["hardware"]["p95"], 0);
    EXPECT_GT(json["checkpoint"]["interval_s"], json["checkpoint"]["write_s"]);
    EXPECT_FALSE(json["assumptions"].empty());
}

// tests/tools/run_text.golden; rewritten only with WEFT_UPDATE_GOLDEN=1.
TEST(run_command, says_the_same_as_ever) {
    const test::Ran ran = run_weft(
        job +
        "--steps 2000000 --ramp 256,256,100000000 --checkpoint-every 1h --asynchronous --spares 4 --samples 500 "
        "--seed 7 --price 1.5");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const std::filesystem::path file = WEFT_TEST_DATA "/tools/run_text.golden";
    if (std::getenv("WEFT_UPDATE_GOLDEN") != nullptr) std::ofstream(file, std::ios::binary) << ran.out;
    EXPECT_EQ(ran.out, test::read_file(file));
}

TEST(run_command, says_what_was_expected) {
    const auto complaint = [](const std::string& arguments) {
        const test::Ran ran = run_weft(job + arguments);
        EXPECT_EQ(ran.exit_code, 2) << arguments;
        return ran.err;
    };
    EXPECT_THAT(complaint(""), HasSubstr("one of --tokens, --steps and --days"));
    EXPECT_THAT(complaint("--days 1 --steps 2"), HasSubstr("one of --tokens, --steps and --days"));
    EXPECT_THAT(complaint("--tokens 15Q"), HasSubstr("expected a number above 0 such as 15T, got \"15Q\""));
    EXPECT_THAT(complaint("--steps 1.5"), HasSubstr("--steps: expected a whole number"));
    EXPECT_THAT(complaint("--days 1 --checkpoint-every 5x"), HasSubstr("a time such as 30m or a number of steps"));
    EXPECT_THAT(complaint("--days 1 --ramp 1,2"), HasSubstr("expected START,INCREMENT,SAMPLES"));
    EXPECT_THAT(complaint("--days 1 --ramp 32,33,9"), HasSubstr("--ramp: "));
    EXPECT_THAT(complaint("--days 1 --software-every 0d"), HasSubstr("--software-every: expected a time such as 20d"));
    EXPECT_THAT(complaint("--days 1 --storage-share 1.5"), HasSubstr("expected a share above 0 and up to 1"));
}

TEST(run_command, says_who_said_what) {
    const test::Ran ran = run_weft(job + "--days 9 --samples 9 --json --planned-every never --spares 3");
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(json["origins"]["planned"], "asked");
    EXPECT_EQ(json["origins"]["spares"], "asked");
    EXPECT_EQ(json["origins"]["hardware"], "machine");
    EXPECT_EQ(json["origins"]["software"], "assumed");
    EXPECT_TRUE(json["failures"]["mean_time_between_s"]["planned"].is_null());
    EXPECT_NEAR(json["checkpoint"]["storage_share"], 16.0 / 9408, 1e-6);
}

// A run of more steps than there are numbers for was one of 1 step.
TEST(run_command, refuses_what_cannot_be_counted_or_takes_too_long) {
    const auto refusal = [](const std::string& arguments) {
        const test::Ran ran = run_weft(job + arguments);
        EXPECT_EQ(ran.exit_code, 3) << arguments;
        return ran.err;
    };
    EXPECT_THAT(refusal("--days 1e18 --samples 20"), HasSubstr("steps of 46.0 s: up to 1e+15 can be played"));
    EXPECT_THAT(refusal("--days 1e300"), HasSubstr("up to 1e+15"));
    EXPECT_THAT(refusal("--steps 1e14"), HasSubstr("Ask for a shorter run"));
    EXPECT_THAT(refusal("--steps 1e11 --samples 10000000"), HasSubstr("Ask for --samples "));
    EXPECT_EQ(run_weft(job + "--steps 4294967296 --samples 5").exit_code, 0);
}

}  // namespace
}  // namespace weft
