#include "workloads/report/simulation.hpp"

#include <gtest/gtest.h>

#include "sim/base/check.hpp"
#include "tests/workloads/studies.hpp"

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

}  // namespace
}  // namespace weft
