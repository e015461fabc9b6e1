// `weft compare JOB TRACE` and `weft calibrate TRACE --job JOB` as a program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.hpp"
#include "tests/tools/program.hpp"
#include "tests/workloads/recorded/kineto_text.hpp"

namespace weft {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class compare_trace : public ::testing::Test {
  protected:
    void SetUp() override {
        std::filesystem::copy_file(WEFT_TEST_DATA "/workloads/formats/seeds/kineto.json",
                                   folder_.path() / "trace.json");
        std::ofstream(folder_.path() / "job.json") << R"({"machine": "dgx-h100", "nodes": 1, "model": "llama3-8b",
            "framework": "fsdp", "layout": {"data": 8}, "batch": {"sequence": 2048, "micro": 1, "global": 8}})";
        std::ofstream(folder_.path() / "cut.json") << "{\"traceEvents\": [{\"ph\": \"X\"";
    }
    test::Ran ran(const std::string& arguments) { return test::run_weft(arguments, folder_.path()); }

    test::TemporaryFolder folder_;
};

TEST_F(compare_trace, shows_both_sides) {
    const test::Ran shown = ran("compare job.json trace.json");
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out,
                HasSubstr("trace.json: ProfilerStep#3, NVIDIA H100 80GB HBM3; beside a simulated rank of stage 0"));
    EXPECT_THAT(shown.out, HasSubstr("all-reduce"));
    EXPECT_THAT(shown.out, HasSubstr("is in a named class"));
}

TEST_F(compare_trace, mistakes_are_told) {
    EXPECT_EQ(ran("compare trace.json job.json").exit_code, 2);
    EXPECT_EQ(ran("compare job.json job.json trace.json").exit_code, 2);
    EXPECT_EQ(ran("compare job.json trace.json --report page.txt").exit_code, 2);
    EXPECT_EQ(ran("calibrate trace.json --device h100").exit_code, 2);
    const test::Ran cut = ran("compare job.json cut.json");
    EXPECT_EQ(cut.exit_code, 3);
    EXPECT_THAT(cut.err, HasSubstr("cut.json: error: byte "));
}

// A projection of the job in 300 us.
TEST_F(compare_trace, what_is_learnt_is_a_device_and_what_is_not_told_is_left) {
    test::KinetoText text;
    text.host("cpu_op", "aten::mm", 1, 4, R"("Input Dims":[[2048,4096],[4096,4096]])");
    text.kernel("nvjet_sm90", 4, 300, 2);
    std::ofstream(folder_.path() / "one.json") << text.text();
    const test::Ran fitted = ran("calibrate one.json --job job.json --out mine.json");
    EXPECT_EQ(fitted.exit_code, 0) << fitted.err;
    EXPECT_THAT(fitted.out, ContainsRegex("gemm_plateau .*fitted"));
    EXPECT_THAT(fitted.out, ContainsRegex("host_launch .*left alone"));
    EXPECT_EQ(ran("simulate job.json --set machine.device=mine.json").exit_code, 0);
    std::string own = test::read_file(folder_.path() / "job.json");
    own.replace(own.find("\"dgx-h100\""), 10, R"({"extends": "dgx-h100", "device": "mine.json"})");
    std::ofstream(folder_.path() / "own.json") << own;
    const test::Ran again = ran("calibrate one.json --job own.json --out again.json");
    EXPECT_EQ(again.exit_code, 0) << "from the device that the job names: " << again.err;
}

}  // namespace
}  // namespace weft
