#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

constexpr const char* job = "workloads/jobs/frontier-gpt-neox-1.3b-sequence.json";

TEST(volume, the_paper_view_prints_integers_of_bytes) {
    const test::Ran ran = test::run_weft(std::string("volume ") + job +
                                         " --view paper --set zero=0 --set layout.data=8 --set nodes=1 --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    ASSERT_EQ(json.at("rows").size(), 1U);
    EXPECT_EQ(json.at("rows")[0].at("op"), "all_reduce");
    EXPECT_EQ(json.at("rows")[0].at("volume_bytes"), 4965087232);  // equation 2, 1.3B, d = 8
    EXPECT_TRUE(json.at("totals").at("volume_bytes").is_number_integer());
}

TEST(volume, the_framework_view_has_the_agreed_keys) {
    const test::Ran ran = test::run_weft(std::string("volume ") + job + " --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    for (const auto& row : json.at("rows")) {
        for (const char* key : {"op", "dimension", "group_size", "calls", "message_bytes", "volume_bytes", "when"}) {
            EXPECT_TRUE(row.contains(key)) << key;
        }
    }
}

TEST(volume, refuses_another_view_and_a_rank_that_is_not_there) {
    EXPECT_EQ(test::run_weft(std::string("volume ") + job + " --view dreams").exit_code, 2);
    EXPECT_EQ(test::run_weft(std::string("volume ") + job + " --rank 16").exit_code, 2);
    EXPECT_EQ(test::run_weft(std::string("volume ") + job + " --rank 15").exit_code, 0);
}

TEST(check, says_fine_or_everything_that_is_wrong) {
    EXPECT_EQ(test::run_weft(std::string("check ") + job).exit_code, 0);
    const test::Ran ran = test::run_weft("check job.json", WEFT_TEST_DATA "/golden/everything-at-once");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_GE(std::count(ran.err.begin(), ran.err.end(), '\n'), 6);
}

}  // namespace
}  // namespace weft
