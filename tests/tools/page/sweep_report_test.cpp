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

}  // namespace
}  // namespace weft
