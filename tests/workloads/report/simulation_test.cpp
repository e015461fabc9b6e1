#include "workloads/report/simulation.hpp"

#include <gtest/gtest.h>

#include "sim/base/check.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

// A hundred thousand micro-batches of half a second are hours: 2.5 of them are the end of the clock.
TEST(simulation, of_a_step_beyond_the_clock_is_refused_before_it_runs_with_a_batch_that_is_not) {
    const Study study =
        test::small_study({"model.layers=4", "model.hidden=8192", "batch.micro=16", "batch.global=3200000"});
    std::string text;
    try {
        simulate_step(study, make_plan(study));
    } catch (const RangeError& error) {
        text = error.what();
    }
    const std::string key = "batch.global=";
    ASSERT_NE(text.find(key), std::string::npos) << text;
    EXPECT_NE(text.find("a simulation ends after 9200 s"), std::string::npos) << text;
    const unsigned long batch = std::stoul(text.substr(text.find(key) + key.size()));
    EXPECT_LT(batch, 3200000U) << text;
    EXPECT_EQ(batch % 32, 0U) << "two data ranks with micro-batches of sixteen";
}

// "on 2 nodes", or what a job takes of its nodes: jobs of GB200 take 64 of a rack.
TEST(report, says_how_much_of_a_node_a_job_takes) {
    const auto layout = [](const std::vector<std::string>& settings) {
        const std::string text = planned_report(make_plan(test::small_study(settings)), NetworkKind::flow).layout;
        return text.substr(text.find(" on ") + 1);
    };
    EXPECT_EQ(layout({}), "on 2 nodes");
    EXPECT_EQ(layout({"layout.data=1"}), "on 1 node");
    EXPECT_EQ(layout({"layout.data=1", "layout.tensor=1"}), "on 4 of the 8 GPUs of a node");
    EXPECT_EQ(layout({"machine=gb200-nvl72", "layout.data=16"}), "on 64 of the 72 GPUs of each of 2 nodes");
}

}  // namespace
}  // namespace weft
