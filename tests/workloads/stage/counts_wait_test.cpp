// Where the host waits for the counts of tokens that a router has made, by dispatcher and version, against the order in
// which each framework's dispatcher waits (parallelism/experts.hpp).
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

const Settings megatron{"megatron.version=core-0.15", "megatron.check_for_nan=false"};

Plan plan_of(const Settings& more, const Settings& framework = megatron) {
    Settings all{"machine=dgx-h100",
                 "precision=bf16",
                 "layout.tensor=1",
                 "layout.pipeline=1",
                 "layout.data=4",
                 "layout.expert=4",
                 "model.layers=2",
                 "batch.global=8",
                 R"(model.experts={"count": 16, "top_k": 4, "ffn_hidden": 512, "shared": 1})"};
    all.insert(all.end(), framework.begin(), framework.end());
    all.insert(all.end(), more.begin(), more.end());
    Study study = test::small_study(all);
    study.device.host_launch = {2e-5};
    return make_plan(study);
}

// A launch that waits for something the device has done.
struct Wait {
    std::string_view call;         // the last before that
    std::size_t computations = 0;  // between it and that
    double launched_after = 0;     // operations of the host, calls among them, until its layer ends
};

std::vector<Wait> waits_of(const Plan& plan) {
    EXPECT_TRUE(plan.host_bound);
    const Script script = step_script(plan, 0, StepKind::steady);
    std::vector<Wait> waits;
    for (const Action& action : script.actions()) {
        if (action.kind != Action::Kind::launch || action.after == Action::none) continue;
        Wait wait;
        for (ActionId id = action.after + 1; id-- > 0;) {
            const Action& before = script.actions()[id];
            wait.computations += before.kind == Action::Kind::compute ? 1 : 0;
            if (before.kind != Action::Kind::call && before.kind != Action::Kind::issue) continue;
            wait.call = script.calls()[before.subject].label;
            break;
        }
        wait.launched_after = script.work()[action.subject].value / 2e-5;
        waits.push_back(wait);
    }
    return waits;
}

TEST(counts, are_waited_for_once_in_each_layer_where_the_dispatcher_does) {
    struct Case {
        Settings settings;
        std::string_view call;
        std::size_t computations;
    };
    const std::vector<Case> cases{
        {{}, "all-gather expert counts", 0},
        {{"megatron.version=core-0.12"}, "all-gather expert counts", 0},
        {{"megatron.version=core-0.11"}, "all-gather expert counts", 1},  // and the permutation
        {{"megatron.version=core-0.7"}, "all-gather expert counts", 0},
        {{"cuda_graphs=router"}, "all-gather expert counts", 1},
        {{"experts.dispatcher=all_gather"}, "all-gather tokens", 0},
        {{"experts.overlap=shared_experts"}, "all-gather expert counts", 0},
    };
    for (const Case& one : cases) {
        const std::string name = one.settings.empty() ? "" : one.settings.front();
        const std::vector<Wait> waits = waits_of(plan_of(one.settings));
        EXPECT_EQ(waits.size(), 2U * 2U) << name;  // layers, micro-batches
        for (const Wait& wait : waits) {
            EXPECT_EQ(wait.call, one.call) << name;
            EXPECT_EQ(wait.computations, one.computations) << name;
        }
    }
    EXPECT_TRUE(waits_of(plan_of({"experts.capacity_factor=1"})).empty());
}

// What the host has yet to issue of the layer then: of pieces, and the calls of tokens out and back.
TEST(counts, leave_to_issue_what_no_graph_has_and_was_not_issued_before) {
    const auto left = [](const Settings& settings, double calls) {
        const Plan plan = plan_of(settings);
        double issued = calls;
        for (const Piece piece :
             {Piece::experts, Piece::unpermute, Piece::shared_up, Piece::shared_down, Piece::residual}) {
            issued += host_operations(plan.job, piece).forward;
        }
        for (const Wait& wait : waits_of(plan)) EXPECT_NEAR(wait.launched_after, issued, 1e-6) << settings.front();
    };
    left({"experts.dispatcher=all_to_all"}, 3);  // tokens, their probabilities, and back
    left({"cuda_graphs=router"}, 3);
    left({"cuda_graphs=around_experts"}, 3);
    left({"experts.overlap=shared_experts"}, 3);
    left({"experts.dispatcher=all_gather"}, 1);
    left({"experts.dispatcher=deepep", "experts.fused_indices=true"}, 2);
    left({"experts.dispatcher=hybridep"}, 2);
}

// DeepEP's rows are looked up by a mask, for whose size the host waits until they have come; not where a kernel does
// it.
TEST(counts, are_waited_for_and_so_are_the_rows_that_deepep_brings) {
    const std::vector<Wait> waits = waits_of(plan_of({"experts.dispatcher=deepep"}));
    ASSERT_EQ(waits.size(), 2U * 2U * 2U);
    for (std::size_t i = 1; i < waits.size(); i += 2) EXPECT_EQ(waits[i].call, "dispatch in nodes");
    EXPECT_EQ(waits_of(plan_of({"experts.dispatcher=deepep", "experts.fused_indices=true"})).size(), 2U * 2U);
}

TEST(counts, are_waited_for_again_where_experts_are_run_again) {
    EXPECT_EQ(waits_of(plan_of({R"(recompute={"modules": ["moe"]})"})).size(), 2U * 2U * 2U);
    EXPECT_EQ(waits_of(plan_of({"recompute=full"})).size(), 2U * 2U * 2U);
}

TEST(counts, are_waited_for_by_other_frameworks_as_they_do) {
    const auto expect = [](const Settings& framework, std::string_view call, std::size_t computations) {
        const std::vector<Wait> waits = waits_of(plan_of({}, framework));
        EXPECT_EQ(waits.size(), 2U * 2U);
        for (const Wait& wait : waits) {
            EXPECT_EQ(wait.call, call);
            EXPECT_EQ(wait.computations, computations);
        }
    };
    expect({"framework=fsdp", R"(fsdp={"version": 2})"}, "all-to-all expert counts", 1);  // in order
    expect({"framework=deepspeed"}, "all-reduce expert capacity", 0);                     // before its masks
}

}  // namespace
}  // namespace weft
