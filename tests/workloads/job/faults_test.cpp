// The faults section of a job: what it means, mistakes at their place, and jitter as its formula says.
#include "workloads/job/job.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "sim/io/diagnostics.hpp"
#include "tests/mutated.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

using test::small_study;

// Sixteen ranks on two nodes of Frontier.
void expect_mistakes(const std::string& faults, const std::vector<std::string>& parts) {
    const std::string text = test::mistakes("faults=" + faults);
    for (const std::string& part : parts) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
    }
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1, parts.size()) << text;
}

TEST(faults, there_are_none_where_a_job_says_nothing) {
    const Job job = small_study().job;
    EXPECT_TRUE(job.faults.slow.empty());
    EXPECT_FALSE(has_jitter(job.faults));
    EXPECT_TRUE(job.fabric.link_faults.empty());
    EXPECT_EQ(slowness(job.faults, RankId{3}), 1.0);
}

TEST(faults, slow_gpus_are_ranks_and_nodes_whose_factors_multiply) {
    const Faults faults =
        small_study({R"(faults={"slow_gpus": [{"rank": 9, "factor": 1.5}, {"node": 1, "factor": 1.25}]})"}).job.faults;
    EXPECT_EQ(slowness(faults, RankId{7}), 1.0);
    EXPECT_EQ(slowness(faults, RankId{8}), 1.25);
    EXPECT_EQ(slowness(faults, RankId{9}), 1.5 * 1.25);
    EXPECT_EQ(slowness(faults, RankId{15}), 1.25);
}

// Of two nodes each is slow by chance: the expected step is the mean of all draws where stages are equal. (A stage that
// has slack hides a slow machine of its own: there the expectation is too long.)
TEST(faults, spread_is_the_mean_of_drawn_machines) {
    constexpr double share = 0.2, factor = 1.1;
    const auto step = [&](const std::string& faults) {
        Study study = small_study({"faults=" + faults, "batch.global=128", "model.vocabulary=512"});
        study.device.slow_share = share;
        study.device.slow_factor = factor;
        return make_report(simulate_step(study, make_plan(study))).metric("step.time_s");
    };
    const auto slow = [&](int node) { return R"({"node": )" + std::to_string(node) + R"(, "factor": 1.1})"; };
    const double none = step(R"({"spread": 0})"), first = step(R"({"slow_gpus": [)" + slow(0) + "]}"),
                 second = step(R"({"slow_gpus": [)" + slow(1) + "]}"),
                 both = step(R"({"slow_gpus": [)" + slow(0) + ", " + slow(1) + "]}");
    const double mean =
        (1 - share) * (1 - share) * none + share * (1 - share) * (first + second) + share * share * both;
    const double expected = step("{}");
    EXPECT_GT(expected, 1.01 * none);
    EXPECT_NEAR(expected / mean, 1.0, 0.005);
}

TEST(faults, links_go_to_the_fabric) {
    const Job job = small_study({R"(faults={"links": [{"node": 1, "nic": 2, "bandwidth": 0.5},
                                    {"from": 0, "to": 8, "class": "slingshot.nic", "bandwidth": 0}]})"})
                        .job;
    ASSERT_EQ(job.fabric.link_faults.size(), 2U);
    EXPECT_EQ(std::get<NicCable>(job.fabric.link_faults[0].where), (NicCable{1, 2}));
    EXPECT_EQ(job.fabric.link_faults[0].share, 0.5);
    EXPECT_EQ(std::get<RouteCables>(job.fabric.link_faults[1].where),
              (RouteCables{RankId{0}, RankId{8}, "slingshot.nic"}));
    EXPECT_EQ(job.fabric.link_faults[1].share, 0.0);
}

TEST(faults, take_overrides_key_by_key_beside_a_fabric) {
    const Job job =
        small_study({"faults.jitter.spread=0.02", "faults.jitter.seed=7", "fabric.placement=scatter:2"}).job;
    EXPECT_EQ(job.faults.jitter.spread, 0.02);
    EXPECT_EQ(job.faults.jitter.seed, 7U);
    EXPECT_EQ(job.fabric.placement.size(), 2U);
    EXPECT_EQ(small_study(
                  {R"(faults={"links": [{"node": 0, "nic": 0, "bandwidth": 0.5}]})", "faults.links[0].bandwidth=0.25"})
                  .job.fabric.link_faults[0]
                  .share,
              0.25);
}

TEST(faults, mistakes_about_gpus_are_told_together) {
    expect_mistakes(
        R"({"slow_gpus": [{"rank": 16, "factor": 1.2}, {"node": 2, "factor": 1.2}, {"rank": 1, "factor": 0.8},
                                      {"rank": 3, "factor": 2}, {"rank": 3, "factor": 1.5}, {"rnk": 3, "factor": 2},
                                      {"rank": 4, "node": 0, "factor": 2}, {"rank": "x", "factor": "y"}, {"rank": 5}],
                        "jiter": {}})",
        {"faults.slow_gpus[0].rank: the job has ranks 0 to 15, not 16",
         "faults.slow_gpus[1].node: the job has nodes 0 to 1, not 2",
         "faults.slow_gpus[2].factor: expected how many times as long computation takes, at least 1; 0.8 "
         "would be faster than mi250x-gcd computes",
         "faults.slow_gpus[4].rank: rank 3 stands here twice",
         "faults.slow_gpus[5]: expected either \"rank\" (one GPU) or \"node\" (all GPUs of it)",
         "faults.slow_gpus[5].rnk: unknown key, did you mean \"rank\"?",
         "faults.slow_gpus[6]: expected either \"rank\"", "faults.slow_gpus[7].rank: expected",
         "faults.slow_gpus[7].factor: expected a", "faults.slow_gpus[8].factor: missing",
         "faults.jiter: unknown key, did you mean \"jitter\"?"});
}

TEST(faults, mistakes_about_links_are_told_together) {
    expect_mistakes(
        R"({"links": [{"node": 2, "nic": 4, "bandwidth": 0.5}, {"node": 0, "nic": 1, "bandwidth": 1.5},
                                  {"node": 0, "bandwidth": 0.5}, {"node": 0, "nic": 1, "from": 3, "bandwidth": 0.5},
                                  {"from": 0, "to": 99, "bandwidth": 0}, {"bandwidth": 0},
                                  {"from": 0, "to": 1, "class": "slingshot.nik", "bandwidth": 0},
                                  {"node": 0, "nic": 3, "class": "slingshot.nic", "bandwidth": 0},
                                  {"node": 1, "nic": 1, "bandwidth": 0.5}, {"node": 1, "nic": 1, "bandwidth": 0.25}]})",
        {"faults.links[0].node: the job has nodes 0 to 1, not 2",
         "faults.links[0].nic: a node of frontier has NICs 0 to 3, not 4",
         "faults.links[1].bandwidth: expected the share of its bandwidth that the link has left, from 0 "
         "(dead) to 1, got 1.5",
         "faults.links[2].nic: missing", "faults.links[3]: expected either \"node\" and \"nic\" or \"from\"",
         "faults.links[4].to: the job has ranks 0 to 15, not 99", "faults.links[5]: expected either",
         "faults.links[6].class: no link class of frontier is called \"slingshot.nik\", did you mean",
         "faults.links[7].class: a NIC has one cable", "faults.links[9]: the same link stands here twice"});
}

TEST(faults, what_only_the_topology_knows_is_told_at_its_entry) {
    expect_mistakes(R"({"links": [{"from": 0, "to": 1, "class": "slingshot.nic", "bandwidth": 0},
                                  {"from": 2, "to": 2, "bandwidth": 0.5}]})",
                    {"faults.links[0]: the route from rank 0 to rank 1 has no link of class \"slingshot.nic\"",
                     "faults.links[1]: rank 2 needs no link to itself"});
    expect_mistakes(R"({"links": [{"node": 1, "nic": 0, "bandwidth": 0}, {"node": 1, "nic": 1, "bandwidth": 0},
                                  {"node": 1, "nic": 2, "bandwidth": 0}, {"node": 1, "nic": 3, "bandwidth": 0}]})",
                    {"faults.links: no way is left between rank"});
}

TEST(faults, a_number_alone_is_the_spread_of_jitter) {
    const Jitter jitter = small_study({"faults.jitter=.02"}).job.faults.jitter;
    EXPECT_EQ(jitter.spread, 0.02);
    EXPECT_EQ(jitter.seed, 0U);
    expect_mistakes(R"({"jitter": 1.5})", {"faults.jitter: expected the mean share"});
}

TEST(faults, mistakes_about_jitter_are_told_together) {
    expect_mistakes(R"({"jitter": {"spread": 1.5, "seed": -1, "sed": 1}})",
                    {"faults.jitter.spread: expected the mean share", "faults.jitter.seed: expected an integer",
                     "faults.jitter.sed: unknown key, did you mean \"seed\"?"});
}

// Of a uniform distribution from 1 to 1 + 2s: mean 1 + s, variance (2s)^2 / 12. Over n draws the mean lies within five
// of its standard deviations but once in a million seeds, and the seed is fixed.
TEST(jitter, is_uniform_bounded_and_the_same_every_time) {
    const Jitter jitter{.spread = 0.05, .seed = 7};
    constexpr int n = 100000;
    double sum = 0.0, squares = 0.0, least = 2.0, most = 0.0;
    for (int i = 0; i < n; ++i) {
        const double factor =
            jitter.factor(RankId(static_cast<std::uint32_t>(i % 100)), static_cast<std::uint64_t>(i / 100));
        ASSERT_GE(factor, 1.0);
        ASSERT_LT(factor, 1.1);
        sum += factor;
        squares += (factor - 1.05) * (factor - 1.05);
        least = std::min(least, factor);
        most = std::max(most, factor);
    }
    EXPECT_NEAR(sum / n, 1.05, 5.0 * 0.1 / std::sqrt(12.0 * n));
    EXPECT_NEAR(squares / n, 0.01 / 12.0, 0.02 * 0.01 / 12.0);
    EXPECT_LT(least, 1.0001);
    EXPECT_GT(most, 1.0999);
    EXPECT_EQ(jitter.factor(RankId{3}, 5), jitter.factor(RankId{3}, 5));
    EXPECT_NE(jitter.factor(RankId{3}, 5), jitter.factor(RankId{5}, 3));
    EXPECT_NE(jitter.factor(RankId{3}, 5), (Jitter{.spread = 0.05, .seed = 8}.factor(RankId{3}, 5)));
    EXPECT_EQ((Jitter{}.factor(RankId{3}, 5)), 1.0);
}

// The slowest of n: 1 + 2s n / (n + 1) on average, as the maximum of n uniform draws is n / (n + 1).
TEST(jitter, of_ranks_that_wait_for_one_another_costs_what_the_closed_form_says) {
    const Jitter jitter{.spread = 0.1, .seed = 1};
    double sum = 0.0;
    for (std::uint64_t i = 0; i < 20000; ++i) {
        double slowest = 0.0;
        for (std::uint32_t rank = 0; rank < 4; ++rank) slowest = std::max(slowest, jitter.factor(RankId{rank}, i));
        sum += slowest;
    }
    EXPECT_NEAR(sum / 20000, 1.0 + 0.2 * 4.0 / 5.0, 0.001);
}

const std::string valid = R"({"slow_gpus": [{"rank": 9, "factor": 1.2}, {"node": 1, "factor": 1.05}],
    "links": [{"node": 1, "nic": 1, "bandwidth": 0.5}, {"from": 8, "to": 0, "class": "slingshot.nic", "bandwidth": 0}],
    "jitter": {"spread": 0.02, "seed": 7}})";

// Whatever the section contains, it is read or refused with a place and a reason.
TEST(faults, fuzzed_are_read_or_refused) {
    ASSERT_EQ(test::mistakes("faults=" + valid), "");
    const std::string job = R"({"machine": "frontier", "nodes": 2, "framework": "megatron", "layout": {"tensor": 2},
        "model": {"layers": 8, "hidden": 1024, "heads": 16, "vocabulary": 50257}, "batch": {"global": 32}, "faults": )";
    EXPECT_TRUE(rc::check([&] {
        const std::string text =
            test::mutated(valid, 3, rc::gen::elementOf(std::string("{}[]\",:-.e0123456789 nodracl")));
        try {
            const Study study = read_study(Document::parse("fuzz", job + text + "}"));
            for (std::uint32_t rank = 0; rank < 16; ++rank) RC_ASSERT(slowness(study.job.faults, RankId{rank}) >= 1.0);
            study.machine.topology(study.job.nodes, study.job.fabric);  // what was read can be built
        } catch (const ConfigError& error) {
            RC_ASSERT(!error.diagnostics().empty());
            for (const Diagnostic& each : error.diagnostics()) RC_ASSERT(each.line >= 1 && !each.message.empty());
        }
    }));
}

}  // namespace
}  // namespace weft
