// The fabric section of a job: mistakes at their place, and what a placement and other traffic cost a step.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sim/io/diagnostics.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

using test::small_study;

TEST(fabric, is_the_machines_own_where_a_job_says_nothing) {
    const Fabric fabric = small_study().job.fabric;
    EXPECT_FALSE(fabric.routing);
    EXPECT_TRUE(fabric.placement.empty());
    EXPECT_TRUE(fabric.background.empty());
}

TEST(fabric, is_read_from_its_section) {
    const Fabric fabric =
        small_study(
            {R"(fabric={"routing": "valiant", "placement": "scatter:2", "background": {"slingshot.global": 0.3}})"})
            .job.fabric;
    EXPECT_EQ(fabric.routing, Routing::valiant);
    EXPECT_EQ(fabric.placement, (std::vector<std::uint32_t>{0, 128}));
    ASSERT_EQ(fabric.background.size(), 1U);
    EXPECT_EQ(fabric.background[0].first, "slingshot.global");
    EXPECT_EQ(fabric.background[0].second, 0.3);
}

TEST(fabric, a_load_is_on_all_links_between_switches_that_the_background_does_not_name) {
    const Fabric fabric = small_study({R"(fabric={"load": 0.5, "background": {"slingshot.global": 0.3}})"}).job.fabric;
    EXPECT_EQ(fabric.background,
              (std::vector<std::pair<std::string, double>>{{"slingshot.global", 0.3}, {"slingshot.local", 0.5}}));
    const std::string none = test::mistakes(R"(fabric={"load": 1})");
    EXPECT_NE(none.find("fabric.load: expected a share of at least 0 and below 1, got 1"), std::string::npos) << none;
}

// Steps that meet flows of others: on average between the median and the 99th percentile, and no slower without them.
TEST(fabric, flows_of_others_are_met_at_random) {
    const std::string load = R"(fabric={"load": 0.6, "placement": "scatter:2"})";
    const Study study = small_study({load});
    const Plan plan = make_plan(study);
    const Seconds alone =
        since_start(simulate_step(small_study({R"(fabric={"placement": "scatter:2"})"}), plan).timeline.end);
    const CongestedSteps met = congested_steps(study, plan, {}).value();
    EXPECT_LE(alone, met.p50);
    EXPECT_LT(met.p50, met.p95);
    EXPECT_LT(met.p95, met.p99);
    EXPECT_LT(met.mean, met.p95);
    const Study rare = small_study({load, "fabric.quantile=0.95"});
    EXPECT_EQ(since_start(simulate_step(rare, plan).timeline.end), met.p95);
    EXPECT_FALSE(congested_steps(rare, plan, {}));
    EXPECT_FALSE(congested_steps(small_study(), plan, {}));
    EXPECT_NE(test::mistakes(R"(fabric={"load": 0.1, "quantile": 1})").find("above 0 and below 1, got 1"),
              std::string::npos);
    EXPECT_NE(test::mistakes("fabric.quantile=0.5").find("is of traffic that load or background says"),
              std::string::npos);
}

TEST(fabric, a_hash_has_a_seed) {
    EXPECT_EQ(small_study({"fabric.routing=ecmp"}).job.fabric.routing, Routing::ecmp);
    EXPECT_EQ(small_study({"fabric.routing=ecmp:7"}).job.fabric.routing, RouteChoice(Routing::ecmp, 7));
    for (const char* wrong : {"ecmp:", "ecmp:-1", "ecmp:7 ", "valiant:7", "ecmp:99999999999999999999"}) {
        EXPECT_NE(
            test::mistakes(std::string("fabric.routing=\"") + wrong + '"').find("expected minimal, ecmp, ecmp:SEED"),
            std::string::npos)
            << wrong;
    }
}

TEST(fabric, takes_overrides_key_by_key) {
    EXPECT_EQ(small_study({"fabric.placement=group:2"}).job.fabric.placement, (std::vector<std::uint32_t>{0, 128}));
}

TEST(fabric, mistakes_are_told_together) {
    const std::string text = test::mistakes(R"(fabric={"routing": "valient", "placement": "scatter:3", "noise": 1,
                                          "background": {"slingshot.globl": 0.3, "slingshot.nic": 1, "pcie.nic": "x"}})");
    for (const char* part :
         {"fabric.routing: expected", "did you mean \"valiant\"", "fabric.placement: 2 nodes do not reach 3 groups",
          "fabric.noise: unknown key", "no link class of frontier is called \"slingshot.globl\", did you mean",
          "expected a share of at least 0 and below 1, got 1", "expected a number"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
    }
}

TEST(fabric, a_mistake_in_a_node_list_is_told_with_its_place_there) {
    const test::TemporaryFolder temporary;
    const std::filesystem::path& folder = temporary.path();
    std::ofstream(folder / "fabric_test_nodes") << "5\n5\n";
    const std::string text =
        test::mistakes(R"(fabric={"placement": "file:)" + (folder / "fabric_test_nodes").string() + R"("})");
    EXPECT_NE(text.find("fabric.placement: "), std::string::npos) << text;
    EXPECT_NE(text.find("fabric_test_nodes:2:1: error: node 5 stands here again, first in line 1"), std::string::npos)
        << text;
}

double step_time(const std::vector<std::string>& overrides) {
    std::vector<std::string> all{"layout.tensor=1", "layout.pipeline=1", "layout.data=64", "batch.global=64"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    const Study study = small_study(all);
    return make_report(simulate_step(study, make_plan(study))).metric("step.time_s");
}

// Eight nodes in one group do not meet a global link; spread over eight groups they do.
TEST(fabric, a_job_spread_over_groups_feels_what_others_send_between_them) {
    const std::string loaded = R"(fabric.background={"slingshot.global": 0.95})", minimal = "fabric.routing=minimal";
    const std::string spread = "fabric.placement=scatter:8";
    EXPECT_EQ(step_time({minimal, loaded}), step_time({minimal}));
    EXPECT_GT(step_time({minimal, spread, loaded}), 1.02 * step_time({minimal, loaded}));
    EXPECT_GT(step_time({minimal, spread, loaded}), 1.02 * step_time({minimal, spread}));
}

TEST(fabric, adaptive_routing_is_never_slower_than_minimal_on_a_loaded_fabric) {
    const std::string loaded = R"(fabric.background={"slingshot.global": 0.95})", spread = "fabric.placement=scatter:8";
    EXPECT_LE(step_time({spread, loaded, "fabric.routing=adaptive"}),
              step_time({spread, loaded, "fabric.routing=minimal"}));
}

}  // namespace
}  // namespace weft
