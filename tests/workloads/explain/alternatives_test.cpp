#include "workloads/explain/explanation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

bool has(const std::vector<Alternative>& found, const std::vector<std::string>& assignments) {
    return std::ranges::find(found, assignments, &Alternative::assignments) != found.end();
}

TEST(alternatives, take_one_step_along_an_axis_and_leave_the_rest_to_data) {
    const std::vector<Alternative> found = alternatives(test::small_study().job);  // tensor 2, pipeline 4, data 2
    EXPECT_TRUE(has(found, {"layout.tensor=1", "layout.data=4"}));
    EXPECT_TRUE(has(found, {"layout.tensor=4", "layout.data=1"}));
    EXPECT_TRUE(has(found, {"layout.pipeline=2", "layout.data=4"}));
    EXPECT_FALSE(has(found, {"layout.tensor=2", "layout.data=2"}));
}

TEST(alternatives, are_ones_that_the_reader_knows_the_keys_of) {
    std::size_t taken = 0;
    for (const Alternative& each : alternatives(test::small_study().job)) {
        try {
            test::small_study(each.assignments);
            ++taken;
        } catch (const ConfigError& error) {
            for (const Diagnostic& diagnostic : error.diagnostics()) {
                EXPECT_EQ(diagnostic.message.find("unknown key"), std::string::npos) << error.what();
            }
        }
    }
    EXPECT_GT(taken, 20U);
}

TEST(alternatives, exchange_neighbours_in_the_order_of_axes) {
    const std::vector<Alternative> found = alternatives(test::small_study().job);
    EXPECT_TRUE(std::ranges::any_of(
        found, [](const Alternative& each) { return each.assignments.front().starts_with("layout.order="); }));
}

}  // namespace
}  // namespace weft
