// Jobs that recompute by operations, as torchtitan does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

Study titan(const std::string& recompute, std::vector<std::string> more = {}) {
    more.insert(more.begin(),
                {"framework=fsdp", "fsdp.version=2", "attention=flash", "layout.pipeline=1", "layout.data=4",
                 "sequence_parallel=true", "precision=bf16",
                 R"(model={"layers": 4, "hidden": 2048, "heads": 16, "kv_heads": 4, "ffn_hidden": 8192, "gated": true,
                    "vocabulary": 32000, "biases": false, "norm": "rms_norm", "positions": "rotary"})",
                 "recompute=" + recompute});
    return test::small_study(more);
}

std::size_t calls(const Study& study, Collective op, RankGroups group) {
    const Plan plan = make_plan(study);
    const Script script = step_script(plan, 0, StepKind::steady);
    std::size_t count = 0;
    for (const Action& action : script.actions()) {
        if (action.kind != Action::Kind::call && action.kind != Action::Kind::issue) continue;
        const Call& call = script.calls()[action.subject];
        if (call.op == op && call.group == group) ++count;
    }
    return count;
}

TEST(recomputed_operations, gathers_run_again_and_sums_do_not) {
    const auto more = [&](Collective op, RankGroups group) {
        return calls(titan("operations"), op, group) - calls(titan("none"), op, group);
    };
    const std::size_t layers = 4, passes = titan("none").job.micro_batches();
    EXPECT_EQ(more(Collective::all_gather, RankGroups{"tensor"}), 2 * layers * passes) << "before attention and MLP";
    EXPECT_EQ(more(Collective::reduce_scatter, RankGroups{"tensor"}), 0);
    EXPECT_EQ(more(Collective::all_gather, copy_axes()), 0) << "parameters are there for backward";
    EXPECT_EQ(calls(titan("full"), Collective::reduce_scatter, RankGroups{"tensor"}) -
                  calls(titan("none"), Collective::reduce_scatter, RankGroups{"tensor"}),
              layers * passes)
        << "attention's alone: what leaves the MLP is not made again";
}

TEST(recomputed_operations, tokens_are_not_sent_to_experts_again) {
    const auto exchanges = [&](const char* recompute) {
        const Study study = titan(recompute, {R"(model.experts={"count": 8, "top_k": 2, "ffn_hidden": 512})",
                                              "layout.expert=4", "layout.tensor=1", "layout.data=8"});
        return calls(study, Collective::all_to_all, RankGroups{"expert"});
    };
    EXPECT_GT(exchanges("none"), 0);
    EXPECT_EQ(exchanges("operations"), exchanges("none"));
    EXPECT_GT(exchanges("full"), exchanges("none"));
}

TEST(recomputed_operations, cost_time_and_memory_between_none_and_full) {
    const auto time = [](const char* recompute) {
        const Study study = titan(recompute, {"batch.global=4"});
        return simulate_step(study, make_plan(study)).timeline.end;
    };
    const auto activations = [](const char* recompute) {
        return make_plan(titan(recompute)).stages.front().memory.activations.value;
    };
    EXPECT_LT(time("none"), time("operations"));
    EXPECT_LT(time("operations"), time("full"));
    EXPECT_LT(activations("full"), activations("operations"));
    EXPECT_LT(activations("operations"), activations("none"));
}

// A compiler drops what leaves the MLP, and products in 8 bits are kept as those in 16.
TEST(recomputed_operations, keep_less_of_what_is_compiled_and_as_much_in_8_bits) {
    const auto activations = [](std::vector<std::string> more) {
        more.insert(more.end(), {"machine=dgx-h100", "nodes=1", "layout.tensor=1", "layout.data=8"});
        return make_plan(titan("operations", std::move(more))).stages.front().memory.activations.value;
    };
    const double layers = 3, left = 1024.0 * 2048 * 2;  // of four, one runs backward
    EXPECT_EQ(activations({"compile=off"}) - activations({"compile=blocks"}), layers * left);
    EXPECT_EQ(activations({"compile=blocks", "precision=fp8"}), activations({"compile=blocks"}));
}

// Of a layer: keys, the projection and one half of the gated map, of all that forward multiplies.
TEST(recomputed_operations, count_the_products_that_run_again) {
    const Plan none = make_plan(titan("none")), operations = make_plan(titan("operations"));
    const double h = 2048, again = 2 * (h * h / 4 + h * h + h * 8192), tokens = 1024.0 * 32, layers = 4;
    EXPECT_NEAR((operations.hardware_flops - none.hardware_flops).value / (tokens * layers * again), 1.0, 1e-12);
    EXPECT_EQ(operations.model_flops.value, none.model_flops.value);
}

TEST(recomputed_operations, what_is_not_known_is_refused) {
    EXPECT_THAT(test::mistakes("recompute=operations"), HasSubstr("fsdp.version = 2"));
    const auto refusal = [](std::vector<std::string> more) -> std::string {
        try {
            titan("operations", std::move(more));
        } catch (const ConfigError& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(refusal({}), "");
    EXPECT_THAT(refusal({"fsdp.version=1"}), HasSubstr("fsdp.version = 2"));
    EXPECT_THAT(refusal({"attention=unfused"}), HasSubstr("fused attention"));
    EXPECT_THAT(refusal({"layout.context=2", "layout.data=2"}), HasSubstr("context ranks"));
    EXPECT_THAT(refusal({R"(model.biases=["qkv"])"}), HasSubstr("without biases"));
}

}  // namespace
}  // namespace weft
