// `weft sweep --report` from outside.
#include <gtest/gtest.h>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

constexpr const char* job =
    "sweep workloads/jobs/frontier-gpt-neox-1.3b-sequence.json --vary batch.sequence=512,1024,100000000";

TEST(sweep_report, has_all_rows_and_the_reasons_of_those_without_result) {
    const test::TemporaryFolder folder;
    const auto page = [&](const std::string& jobs) {
        const std::string path = (folder.path() / "rows.html").string();
        const test::Ran ran = test::run_weft(job + jobs + " --report " + path);
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        return test::read_file(path);
    };
    const std::string one = page(" --jobs 1");
    EXPECT_NE(one.find("\"values\":[[512,1024,100000000]"), std::string::npos) << "keys that are numbers are numbers";
    EXPECT_NE(one.find("1 without a result"), std::string::npos);
    EXPECT_EQ(one, page(" --jobs 2"));
}

TEST(sweep_report, is_a_page_and_nothing_else) {
    const test::Ran ran = test::run_weft(std::string(job) + " --report rows.pdf");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_NE(ran.err.find(".html"), std::string::npos);
}

// The rows of shards as of one sweep; a shard itself has too few.
TEST(sweep_report, is_written_where_shards_come_together) {
    const test::TemporaryFolder folder;
    const auto file = [&](const std::string& name) { return (folder.path() / name).string(); };
    std::string shards;
    for (const std::string number : {"1", "2"}) {
        const std::string shard = file("part-" + number + ".shard");
        const test::Ran ran = test::run_weft(std::string(job) + " --shard " + number + "/2 --out " + shard);
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        shards += " " + shard;
    }
    const test::Ran merged = test::run_weft("merge " + file("rows.csv") + shards + " --report " + file("rows.html"));
    EXPECT_EQ(merged.exit_code, 0) << merged.err;
    const std::string page = test::read_file(file("rows.html"));
    EXPECT_NE(page.find("\"values\":[[512,1024,100000000]"), std::string::npos);
    const test::Ran refused =
        test::run_weft(std::string(job) + " --shard 1/2 --out " + file("a.shard") + " --report " + file("a.html"));
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.err.find("weft merge"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace weft
