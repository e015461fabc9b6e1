// Calls that keep experts evenly loaded, against what Megatron-core's router.py and moe_utils.py call by version.
#include "workloads/parallelism/experts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/workloads/called.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

// Two stages of four layers, the first of all dense; tensor 2 x context 2 x data 2, three micro-batches of two
// sequences.
Plan plan_of(const Settings& more) {
    Settings all{"layout.tensor=2",
                 "layout.context=2",
                 "layout.data=2",
                 "layout.pipeline=2",
                 "layout.expert=4",
                 "layout.expert_tensor=1",
                 "sequence_parallel=true",
                 "batch.micro=2",
                 "batch.global=12",
                 "recompute=none",
                 R"(model.experts={"count": 16, "top_k": 2, "first_dense": 1})"};
    all.insert(all.end(), more.begin(), more.end());
    return make_plan(test::small_study(all));
}

constexpr const char* counts = "all-reduce balancing loss counts";
constexpr double micro_batches = 3, experts = 16, sequences = 2;

TEST(expert_balancing, by_a_loss_sums_counts_of_every_router_and_micro_batch) {
    struct Case {
        const char *version, *balancing, *dispatcher;
        double elements;
        RankGroups group;
    };
    for (const Case& c : {Case{"core-0.8", "auxiliary_loss", "all_gather", experts, RankGroups({"tensor", "context"})},
                          Case{"core-0.8", "auxiliary_loss", "all_to_all", experts, RankGroups{"context"}},
                          Case{"core-0.9", "auxiliary_loss", "all_to_all", experts, RankGroups({"tensor", "context"})},
                          Case{"core-0.18", "auxiliary_loss", "deepep", experts, RankGroups({"tensor", "context"})},
                          Case{"core-0.14", "sequence_auxiliary_loss", "all_to_all", experts * sequences,
                               RankGroups({"tensor", "context"})},
                          Case{"core-0.15", "global_auxiliary_loss", "all_to_all", experts, stage_axes()}}) {
        const Plan plan =
            plan_of({std::string("megatron.version=") + c.version, std::string("experts.balancing=") + c.balancing,
                     std::string("experts.dispatcher=") + c.dispatcher});
        for (const std::uint32_t stage : {0U, 1U}) {
            const double routers = stage == 0 ? 3 : 4;
            const test::Called sum = test::called(plan, stage, counts);
            EXPECT_EQ(double(sum.calls), routers * micro_batches) << c.version << " " << c.balancing;
            EXPECT_EQ(sum.bytes, routers * micro_batches * c.elements * 8);
            EXPECT_EQ(sum.group, c.group);
            EXPECT_EQ(sum.type, "int64");
        }
    }
    EXPECT_EQ(test::called(plan_of({"megatron.version=core-0.7", "experts.balancing=auxiliary_loss"}), 1, counts).calls,
              0U);
    EXPECT_EQ(test::called(plan_of({"megatron.version=core-0.14", "experts.balancing=even"}), 1, counts).calls, 0U);
}

// To 0.13 every rank gathered the probabilities, in fp32, that the tokens of a whole micro-batch have for all experts.
TEST(expert_balancing, by_several_losses_sums_the_counts_of_each) {
    const auto counted = [](const char* losses) {
        return test::called(plan_of({"megatron.version=core-0.15", std::string("experts.balancing=") + losses}), 1,
                            counts);
    };
    const test::Called both = counted(R"(["sequence_auxiliary_loss", "auxiliary_loss"])");
    EXPECT_EQ(double(both.calls), 2 * 4 * micro_batches);
    EXPECT_EQ(both.bytes, 4 * micro_batches * 8 * (experts + experts * sequences));
    EXPECT_EQ(counted(R"(["global_auxiliary_loss"])").bytes, counted("global_auxiliary_loss").bytes);
    EXPECT_THAT(test::mistakes(R"(experts.balancing=["bias"])"), ::testing::HasSubstr("expected losses out of"));
    EXPECT_THAT(test::mistakes(R"(experts.balancing=["auxiliary_loss", "auxiliary_loss"])"),
                ::testing::HasSubstr("there twice"));
}

TEST(expert_balancing, by_a_loss_of_sequences_gathered_probabilities_before) {
    const Plan plan = plan_of({"megatron.version=core-0.13", "experts.balancing=sequence_auxiliary_loss"});
    EXPECT_EQ(test::called(plan, 1, counts).calls, 0U);
    for (const char* label : {"all-gather balancing probabilities", "reduce-scatter balancing probability gradients"}) {
        const test::Called sum = test::called(plan, 1, label);
        EXPECT_EQ(double(sum.calls), 4 * micro_batches) << label;
        EXPECT_EQ(sum.bytes, 4 * micro_batches * sequences * 1024 * experts * 4) << label;
    }
}

// Under full recomputation the first pass keeps no gradients and counts nothing; up to 0.9 both passes did.
TEST(expert_balancing, by_a_loss_is_counted_once_though_layers_run_twice) {
    const auto calls = [](const char* version, const char* recompute) {
        return double(test::called(plan_of({std::string("megatron.version=") + version,
                                            "experts.balancing=auxiliary_loss", std::string("recompute=") + recompute}),
                                   1, counts)
                          .calls);
    };
    EXPECT_EQ(calls("core-0.14", "none"), 4 * micro_batches);
    EXPECT_EQ(calls("core-0.14", "full"), 4 * micro_batches);
    EXPECT_EQ(calls("core-0.14", R"({"method": "block", "layers": 1})"), 4 * micro_batches);
    EXPECT_EQ(calls("core-0.14", R"({"modules": ["moe"]})"), 4 * micro_batches);
    EXPECT_EQ(calls("core-0.9", "full"), 2 * 4 * micro_batches);
}

// One sum a step over tensor x context x data ranks, by what each framework calls.
TEST(expert_balancing, by_a_bias_is_one_sum_over_all_ranks_of_a_stage) {
    const Plan plan = plan_of({"megatron.version=core-0.14",
                               R"(model.experts={"count": 16, "top_k": 2, "first_dense": 1, "balancing_bias": true})"});
    for (const std::uint32_t stage : {0U, 1U}) {
        const test::Called sum = test::called(plan, stage, "all-reduce expert counts");
        EXPECT_EQ(sum.calls, 1U);
        EXPECT_EQ(sum.bytes, (stage == 0 ? 3 : 4) * experts * 4);
        EXPECT_EQ(sum.group, stage_axes());
    }
}

TEST(expert_balancing, of_other_frameworks_has_no_losses_across_ranks) {
    const std::string own = test::mistakes(R"(experts.balancing=global_auxiliary_loss)");
    EXPECT_THAT(own, testing::HasSubstr("has no experts to send tokens to"));
    try {
        test::small_study({"framework=deepspeed", "layout.tensor=1", "layout.pipeline=1", "layout.data=8",
                           "layout.expert=8", "experts.balancing=sequence_auxiliary_loss",
                           R"(model.experts={"count": 8, "top_k": 2})"});
        FAIL() << "refused";
    } catch (const ConfigError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("a loss of each rank's own tokens alone"));
    }
}

}  // namespace
}  // namespace weft
