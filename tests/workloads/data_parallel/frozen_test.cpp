// Jobs that train a part of their model: what data parallelism and tensor ranks exchange, what is kept, and folding.
#include <gtest/gtest.h>

#include "tests/workloads/called.hpp"
#include "tests/workloads/same_report.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

constexpr double width = 16, hidden = 1024, layers = 8;
const std::string lora = R"(adapters={"rank": 16, "targets": ["q_proj", "v_proj"]})";
constexpr double adapters = layers * 2 * width * 2 * hidden;  // elements

Plan plan_of(const Settings& more) {
    Settings all{"layout.tensor=1", "layout.pipeline=1", "layout.data=16", "batch.global=16", "precision=bf16"};
    all.insert(all.end(), more.begin(), more.end());
    return make_plan(test::small_study(all));
}

// Every gradient that is reduced is an adapter's.
TEST(frozen, parts_are_not_reduced) {
    const auto reduced = [](const Settings& settings, std::string_view label) {
        return test::called(plan_of(settings), 0, label).bytes;
    };
    EXPECT_DOUBLE_EQ(reduced({"framework=ddp", lora}, "all-reduce gradients"), 2 * adapters);
    EXPECT_DOUBLE_EQ(reduced({lora}, "all-reduce gradients"), 4 * adapters);
    EXPECT_DOUBLE_EQ(reduced({"zero=1", lora}, "reduce-scatter gradients"), 4 * adapters);
    EXPECT_DOUBLE_EQ(reduced({"zero=1", lora}, "all-gather parameters"), 2 * adapters);
    EXPECT_DOUBLE_EQ(reduced({"framework=fsdp", "fsdp.version=2", lora}, "reduce-scatter gradients"), 2 * adapters);
    for (const std::string zero : {"zero=1", "zero=2"}) {
        const Settings deepspeed{"framework=deepspeed", zero, "deepspeed.multi_rank_allreduce=true"};
        Settings with = deepspeed;
        with.push_back(lora);
        EXPECT_DOUBLE_EQ(reduced(with, "all-reduce gradients"), 2 * adapters) << zero;
    }
    EXPECT_DOUBLE_EQ(reduced({"framework=deepspeed", "zero=3", lora}, "reduce-scatter gradients"), 2 * adapters);
}

// What is sharded is gathered as it was, and adapters with it.
TEST(frozen, parts_are_gathered_where_they_are_sharded) {
    const Settings fsdp{"framework=fsdp", "fsdp.version=2"};
    const double before = test::called(plan_of(fsdp), 0, "all-gather parameters").bytes;
    Settings with = fsdp;
    with.push_back(lora);
    const double after = test::called(plan_of(with), 0, "all-gather parameters").bytes;
    EXPECT_DOUBLE_EQ(after - before, 2 * 2 * adapters);  // forward and backward
}

TEST(frozen, parts_have_no_gradients_and_states) {
    const Plan whole = plan_of({}), adapted = plan_of({lora}), mlp = plan_of({"frozen=[\"mlp\"]"});
    const MemoryUse all = whole.stages[0].memory, own = adapted.stages[0].memory, rest = mlp.stages[0].memory;
    EXPECT_DOUBLE_EQ(own.gradients.value, 4 * adapters);
    EXPECT_DOUBLE_EQ(own.optimizer.value, 12 * adapters);
    EXPECT_DOUBLE_EQ(own.parameters.value - all.parameters.value, 2 * adapters);
    const double frozen = layers * (8 * hidden * hidden + 5 * hidden);
    EXPECT_DOUBLE_EQ(all.optimizer.value - rest.optimizer.value, 12 * frozen);
    EXPECT_DOUBLE_EQ(rest.parameters.value, all.parameters.value);
    EXPECT_LT(adapted.stages[0].optimizer, whole.stages[0].optimizer);
}

// Per layer and micro-batch of s b tokens, Megatron-Bridge's ParallelLinearAdapter: A x of a map cut by its outputs is
// gathered and its gradient summed; of one cut by its inputs A x is summed both ways, and what B makes of it gathered.
TEST(frozen, tensor_ranks_exchange_what_adapters_make) {
    const auto calls = [](const std::string& target, const Settings& more, std::string_view label) {
        Settings all{"layout.tensor=4", "layout.data=4", R"(adapters={"rank": 16, "targets": [")" + target + R"("]})",
                     "batch.global=4"};
        all.insert(all.end(), more.begin(), more.end());
        return test::called(plan_of(all), 0, label);
    };
    const double narrow = 2 * 1024 * width * layers, wide = 2 * 1024 * hidden * layers;
    const Settings plain, shared{"sequence_parallel=true"},
        overlapped{"sequence_parallel=true", "megatron.overlap_tensor=true"};
    EXPECT_DOUBLE_EQ(calls("linear_qkv", plain, "all-gather adapter").bytes, narrow);
    EXPECT_DOUBLE_EQ(calls("linear_qkv", plain, "all-reduce adapter").bytes, narrow);
    EXPECT_DOUBLE_EQ(calls("linear_qkv", plain, "all-reduce adapter gradient").bytes, wide);
    EXPECT_EQ(calls("linear_qkv", shared, "all-reduce adapter gradient").calls, 0);
    EXPECT_EQ(calls("linear_qkv", shared, "all-gather adapter input").calls, 0);
    EXPECT_DOUBLE_EQ(calls("linear_qkv", overlapped, "all-gather adapter input").bytes, wide);
    EXPECT_DOUBLE_EQ(calls("linear_qkv", overlapped, "reduce-scatter adapter gradient").bytes, wide);
    EXPECT_DOUBLE_EQ(calls("linear_fc2", plain, "all-reduce adapter").bytes, 2 * narrow);
    EXPECT_DOUBLE_EQ(calls("linear_fc2", plain, "all-gather adapter output").bytes, wide);
    EXPECT_EQ(calls("linear_fc2", plain, "all-gather adapter gradient").calls, 0);
    EXPECT_DOUBLE_EQ(calls("linear_fc2", shared, "all-gather adapter gradient").bytes, wide);
    // Frozen maps gather no input for a gradient that they have not.
    EXPECT_EQ(calls("linear_qkv", shared, "all-gather saved input").calls, 0);
}

// Every expert rank has the same, whose A and B are summed over them in every pass; and so among data ranks at the end.
TEST(frozen, expert_ranks_sum_the_adapters_beside_their_experts) {
    const std::string beside = R"(adapters={"rank": 16, "targets": ["linear_fc1", "linear_fc2"]})";
    const Settings experts{"model.experts.count=8", "layout.expert=4", "batch.global=32", beside};
    const test::Called calls = test::called(plan_of(experts), 0, "all-reduce expert adapters");
    const double micro_batches = 2, elements = layers * 2 * width * (hidden + 4 * hidden);
    EXPECT_EQ(calls.calls, micro_batches * layers * 4);
    EXPECT_DOUBLE_EQ(calls.bytes, micro_batches * elements * 2);
    EXPECT_EQ(calls.group, RankGroups{"expert"});
    EXPECT_NE(test::mistakes("adapters={\"rank\": 16, \"targets\": [\"in_proj\"]}"), "");
}

TEST(frozen, jobs_fold_as_they_are) {
    const std::string fused = R"(adapters={"rank": 8, "targets": ["linear_qkv", "linear_fc2"]})";
    const Settings megatron{"layout.tensor=2", "layout.pipeline=2", "layout.data=4", "sequence_parallel=true", fused};
    for (const Settings& settings :
         {megatron, Settings{"framework=ddp", lora}, Settings{"framework=fsdp", "fsdp.version=2", lora},
          Settings{"framework=deepspeed", "zero=3", lora}, Settings{"model.experts.count=8", "layout.expert=4", fused},
          Settings{"frozen=[\"embedding\", \"mlp\"]"}}) {
        const Plan plan = plan_of(settings);
        Settings all{"layout.tensor=1", "layout.pipeline=1", "layout.data=16", "batch.global=16", "precision=bf16"};
        all.insert(all.end(), settings.begin(), settings.end());
        const Study study = test::small_study(all);
        const auto report = [&](Folding folding) {
            return make_report(simulate_step(study, make_plan(study), {.folding = folding}));
        };
        EXPECT_EQ(test::differences(report(Folding::none), report(Folding::exact)), "") << settings.back();
    }
}

TEST(frozen, jobs_that_cannot_be_are_refused) {
    const std::string fsdp = test::mistake_at(
        {"framework=fsdp", "layout.tensor=1", "layout.pipeline=1", "layout.data=16", lora}, "adapters");
    EXPECT_NE(fsdp.find("fsdp.version 2"), std::string::npos) << fsdp;
    EXPECT_NE(test::mistakes(R"(frozen=["mpl"])").find("mlp"), std::string::npos);
    EXPECT_NE(test::mistakes(R"(adapters={"rank": 16, "targets": ["qproj"]})").find("q_proj"), std::string::npos);
    EXPECT_NE(test::mistakes(R"(adapters={"targets": ["q_proj"]})").find("rank"), std::string::npos);
}

}  // namespace
}  // namespace weft
