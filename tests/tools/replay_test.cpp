// `weft replay` as a user runs it.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using test::run_weft;

class replay_command : public ::testing::Test {
  protected:
    std::string file(const std::string& name, const std::string& text) {
        std::ofstream(folder_.path() / name) << text;
        return (folder_.path() / name).string();
    }
    std::string schedule(const std::string& bytes = "64b") {
        return file("two.goal", "num_ranks 2\nrank 0 { a: calc 5000 b: send 64b to 1 b requires a }\nrank 1 { recv " +
                                    bytes + " from 0 }\n");
    }

    test::TemporaryFolder folder_;
};

TEST_F(replay_command, tells_the_step_and_what_it_is_made_of) {
    const test::Ran ran = run_weft("replay " + schedule() + " --machine dgx-h100 --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    const auto& step = json.at("step");
    EXPECT_NEAR(step.at("compute_s").get<double>(), 2.5e-6, 1e-12);
    EXPECT_NEAR(json.at("ranks").at(1).at("waiting_s").get<double>(), 5e-6, 1e-12);
    EXPECT_EQ(json.at("critical_path").size(), 2U);
    const test::Ran twice = run_weft("replay " + schedule() + " --machine dgx-h100 --compute 2 --json");
    EXPECT_NEAR(
        nlohmann::json::parse(twice.out).at("step").at("time_s").get<double>() - step.at("time_s").get<double>(), 5e-6,
        1e-12);
    const test::Ran text = run_weft("replay " + schedule() + " --machine dgx-h100");
    EXPECT_NE(text.out.find("critical path"), std::string::npos) << text.out;
}

TEST_F(replay_command, refuses_what_cannot_run) {
    const test::Ran unequal = run_weft("replay " + schedule("8b") + " --machine dgx-h100");
    EXPECT_EQ(unequal.exit_code, 3);
    EXPECT_NE(unequal.err.find("two.goal:3: error: takes 8 bytes"), std::string::npos) << unequal.err;
    EXPECT_TRUE(unequal.out.empty());
    EXPECT_EQ(run_weft("replay " + schedule() + " --machine dgx-h100 --compute -1").exit_code, 2);
    EXPECT_EQ(run_weft("replay " + schedule() + " --machine dgx-h100 --compute no-such-device").exit_code, 3);
    EXPECT_EQ(run_weft("replay " + file("no.trace", "hello") + " --machine dgx-h100").exit_code, 3);
    std::string many = "num_ranks 5000\n";
    for (int i = 0; i < 5000; ++i) many += "rank " + std::to_string(i) + " { }\n";
    const test::Ran large = run_weft("replay " + file("many.goal", many) + " --machine vista");
    EXPECT_EQ(large.exit_code, 3);
    EXPECT_NE(large.err.find("the traces have 5000 ranks; its 600 nodes hold 600"), std::string::npos) << large.err;
}

}  // namespace
}  // namespace weft
