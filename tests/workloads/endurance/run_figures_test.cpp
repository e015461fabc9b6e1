// What a run meets where nothing is said, and who said what.
#include "workloads/endurance/run_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

// 16 ranks on 2 nodes.
RunFigures figures(const RunTerms& terms, const std::vector<std::string>& settings = {}) {
    return run_figures(make_plan(test::small_study(settings)), terms);
}

RunFigures::Origin origin(const RunFigures& of, std::string_view name) {
    return std::ranges::find(of.origins, name, &decltype(of.origins)::value_type::first)->second;
}

std::string assumed(const RunFigures& of) {
    std::string all;
    for (const std::string& text : of.assumptions) all += text + '\n';
    return all;
}

TEST(run_figures, are_as_in_published_runs_where_nothing_is_said) {
    const RunFigures of = figures({});
    EXPECT_NEAR(of.run.hardware.value, 37600 * 3600.0 / 2, 1) << "frontier's, by node";
    EXPECT_NEAR(of.run.software.value, 379000 * 3600.0 / 16, 1);
    EXPECT_NEAR(of.run.planned / either(of.run.hardware, of.run.software), 419.0 / 47, 1e-9);
    EXPECT_EQ(of.run.spares, 1U) << "a twelfth, rounded up";
    EXPECT_NEAR(of.storage.write.value, 4.6e12 * 2 / 9408, 1e3);
    EXPECT_EQ(origin(of, "hardware"), RunFigures::Origin::machine);
    EXPECT_EQ(origin(of, "storage"), RunFigures::Origin::machine);
    for (const char* const name :
         {"software", "planned", "detection", "stop", "launch", "repair", "spares", "storage_share"}) {
        EXPECT_EQ(origin(of, name), RunFigures::Origin::assumed) << name;
    }
    EXPECT_THAT(assumed(of), HasSubstr("detection as on megascale, 10 min: frontier says nothing"));
    EXPECT_THAT(assumed(of), HasSubstr("as in BLOOM's run (4 for 48)"));
    EXPECT_THAT(assumed(of), HasSubstr("47 for 419 failures"));
}

TEST(run_figures, grow_with_the_job_and_end_with_the_machine) {
    const RunFigures two = figures({}, {"layout.data=4"}), all = figures({}, {"machine={\"extends\": \"frontier\", "
                                                                              "\"nodes\": 2}"});
    EXPECT_NEAR(two.run.software.value * 2, figures({}).run.software.value, 1);
    EXPECT_EQ(all.run.spares, 0U);
    EXPECT_THAT(assumed(all), HasSubstr("0 spare nodes: "));
    EXPECT_EQ(all.storage_share, 1.0);
}

TEST(run_figures, are_what_was_asked_for) {
    const RunFigures of = figures({.spares = 4,
                                   .detection = Seconds{60.0},
                                   .stop = Seconds{1.0},
                                   .launch = Seconds{2.0},
                                   .repair = Seconds{3.0},
                                   .hardware = Seconds{10.0},
                                   .software = endless,
                                   .planned = endless,
                                   .storage_share = 0.5});
    EXPECT_EQ(of.run.hardware, Seconds{10.0});
    EXPECT_EQ(of.run.software, endless);
    EXPECT_EQ(of.run.planned, endless);
    EXPECT_NEAR(of.storage.read.value, 5.5e12 / 2, 1e3);
    EXPECT_EQ(assumed(of), "");
    for (const auto& [name, from] : of.origins) {
        EXPECT_EQ(from, name == "storage" ? RunFigures::Origin::machine : RunFigures::Origin::asked) << name;
    }
}

TEST(run_figures, of_a_machine_that_says_nothing_are_all_assumed) {
    const RunFigures of = figures({}, {"machine=spectrum-x-h100", "layout.tensor=8", "layout.pipeline=1"});
    for (const auto& [name, from] : of.origins) EXPECT_EQ(from, RunFigures::Origin::assumed) << name;
    EXPECT_THAT(assumed(of), HasSubstr("by accelerator, node and NIC as on meta-roce-h100"));
}

}  // namespace
}  // namespace weft
