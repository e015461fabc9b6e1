// Ranks that symmetry makes equal are simulated once, and the result is that of all ranks on their own: for any job, on
// every machine.
#include "workloads/folding/folding.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "sim/io/diagnostics.hpp"
#include "tests/workloads/random_jobs.hpp"
#include "tests/workloads/same_report.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

Report report(const Study& study, Folding folding) {
    return make_report(simulate_step(study, make_plan(study), {.folding = folding}));
}

std::string differences(const Study& study) {
    const Report folded = report(study, Folding::exact), unfolded = report(study, Folding::none);
    if (unfolded.classes != study.job.layout.ranks()) return "ranks share a class though none is folded";
    return test::differences(folded, unfolded);
}

Settings layout(std::uint32_t tensor, std::uint32_t pipeline, std::uint32_t data) {
    return {"layout.tensor=" + std::to_string(tensor), "layout.pipeline=" + std::to_string(pipeline),
            "layout.data=" + std::to_string(data), "batch.global=" + std::to_string(4 * data)};
}

class folding_on : public testing::TestWithParam<std::string> {};

TEST_P(folding_on, is_exact_for_plans_of_every_shape) {
    for (const auto& [tensor, pipeline, data] :
         {std::tuple{1U, 1U, 16U}, {2U, 2U, 4U}, {4U, 4U, 2U}, {4U, 1U, 6U}, {1U, 4U, 8U}, {2U, 3U, 5U}}) {
        for (const char* framework : {"deepspeed", "megatron"}) {
            Settings settings = layout(tensor, pipeline, data);
            settings.insert(settings.end(), {"machine=" + GetParam(), "framework=" + std::string(framework), "zero=1",
                                             "model.layers=12"});
            const Study study = test::small_study(settings);
            EXPECT_EQ(differences(study), "") << testing::PrintToString(settings);
        }
    }
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::ranges::replace(name, '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(machines, folding_on, testing::ValuesIn(machine_names()), name_of);

TEST(folding, is_exact_on_512_ranks) {
    for (const char* machine : {"frontier", "dgx-h100"}) {
        Settings settings = layout(8, 4, 16);
        settings.insert(settings.end(), {std::string("machine=") + machine, "framework=deepspeed", "zero=1"});
        EXPECT_EQ(differences(test::small_study(settings)), "") << machine;
    }
}

// Tensor groups of two data ranks cross on a torus, where each broadcasts along a chain that fills and drains.
TEST(folding, is_exact_where_chains_share_links) {
    const Settings settings{
        "machine=tpu-v4",   "framework=deepspeed", "layout.tensor=4", "layout.pipeline=1",
        "layout.data=2",    "batch.global=4",      "zero=0",          "layout.order=data,tensor,pipeline",
        "model.hidden=256", "model.heads=8",       "precision=bf16"};
    const Study study = test::small_study(settings);
    EXPECT_EQ(report(study, Folding::exact).classes, 2u);  // a class has ranks of both groups
    EXPECT_EQ(differences(study), "");
}

RC_GTEST_PROP(folding, is_exact_for_any_job, ()) {
    Settings settings = test::random_job();
    settings.push_back("machine=" + *rc::gen::elementOf(machine_names()));
    if (*rc::gen::arbitrary<bool>()) {
        settings.push_back("fabric.placement=random:" + std::to_string(*rc::gen::inRange(0, 100)));
    }
    settings.push_back("fabric.routing=" + test::one_of<std::string>({"minimal", "ecmp:3", "adaptive", "valiant"}));
    RC_LOG() << testing::PrintToString(settings);
    try {
        const Study study = test::small_study(settings);
        RC_TAG("ran");
        RC_ASSERT(differences(study) == "");
    } catch (const ConfigError& error) {
        RC_TAG("refused");
        RC_ASSERT(!error.diagnostics().empty());
    }
}

// Every accelerator of a DGX has its own NIC, and a fat tree is as fast from anywhere to anywhere. Rings load all
// alike, the root and the leaves of a tree do not.
TEST(folding, needs_one_class_per_stage_where_all_ranks_sit_alike) {
    Settings settings = layout(8, 2, 4);
    settings.insert(settings.end(),
                    {"machine=dgx-a100", "machine.libraries[0].tuner=null", "machine.libraries[0].costs.tree_ll=null",
                     "machine.libraries[0].costs.tree_ll128=null", "machine.libraries[0].costs.tree_simple=null"});
    const Report folded = report(test::small_study(settings), Folding::exact);
    EXPECT_EQ(folded.classes, 2u);
    EXPECT_TRUE(folded.splits.empty());
}

// On a MI250X node the GCDs of a pair share a NIC, to which one of them is nearer.
TEST(folding, says_why_a_stage_splits) {
    Settings settings = layout(2, 4, 4);
    settings.push_back("machine=frontier");
    const Report folded = report(test::small_study(settings), Folding::exact);
    EXPECT_GT(folded.classes, 4u);
    EXPECT_LT(folded.classes, 32u);
    ASSERT_FALSE(folded.splits.empty());
    EXPECT_EQ(folded.splits.back().classes, folded.classes);
    EXPECT_NE(folded.splits.front().reason.find("routes of unequal latency"), std::string::npos);
}

// Tensor groups of eight on nodes of twelve: every third one spans two nodes.
TEST(folding, tells_groups_apart_that_span_nodes_from_those_that_do_not) {
    Settings settings = layout(8, 1, 3);
    settings.push_back("machine=aurora");
    const Study study = test::small_study(settings);
    const Report folded = report(study, Folding::stages);
    EXPECT_GT(folded.classes, 1u);
    ASSERT_FALSE(folded.splits.empty());
    EXPECT_EQ(folded.splits.front().reason, "groups of unequal members or shape on nodes");
}

TEST(folding, is_exact_where_that_is_foreseen_to_be_soon_done) {
    const auto automatic = [](Settings settings, const char* machine) {
        settings.push_back(std::string("machine=") + machine);
        return report(test::small_study(settings), Folding::automatic);
    };
    const Report soon = automatic(layout(8, 1, 65), "dgx-h100");
    EXPECT_EQ(soon.folding, Folding::exact);
    EXPECT_FALSE(soon.exact);
    Settings many = layout(8, 4, 32);
    many.emplace_back("batch.global=32768");
    const Report late = automatic(many, "frontier");
    EXPECT_EQ(late.folding, Folding::stages);
    ASSERT_TRUE(late.exact);
    EXPECT_GT(late.exact->time(), exact_where.time);
    const Report unasked = automatic(layout(8, 1, 257), "dgx-h100");  // 2,056 ranks
    EXPECT_EQ(unasked.folding, Folding::stages);
    EXPECT_FALSE(unasked.exact);
}

}  // namespace
}  // namespace weft
