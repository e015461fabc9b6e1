// The fullest moment of a stage and what stands beside its tensors, against hand counts and measured peaks.
#include "workloads/plan/stage_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

constexpr double MiB = 1 << 20;

// Transformer Engine's placeholders of weight gradients: one per shape, in working precision. h = 1024, tensor 2:
// QKV 3 h h / 2, projection h h / 2, and the MLP's two maps 4 h h / 2 each.
TEST(memory_use, holds_a_placeholder_for_each_shape_of_matrix) {
    const double h = 1024;
    const Plan plan = make_plan(test::small_study());
    EXPECT_EQ(plan.stages.at(0).memory.buffers.value, 2.0 * (3 + 1 + 4 + 4) * h * h / 2);
}

// The last of four stages has one micro-batch under way when the head runs backward, the fullest moment where the
// vocabulary is large: 2 bytes of 2 x 1024 x 25216 logits' gradients, of the weight's, and of the input's gradient.
TEST(memory_use, is_fullest_at_the_head_of_the_last_stage) {
    const Plan plan = make_plan(test::small_study({"megatron.fused_cross_entropy=false"}));
    const Stage& last = plan.stages.at(3);
    const double share = 50432.0 / 2, tokens = 1024, h = 1024;
    EXPECT_EQ(last.memory.activations, last.chunks.front().activations);
    EXPECT_DOUBLE_EQ(last.memory.workspace.value, 2 * (tokens * share + share * h + tokens * h) + 64 * MiB);
    EXPECT_GT(last.chunks.front().activations, last.chunks.front().head_activations);
}

TEST(memory_use, counts_what_no_tensor_has_apart) {
    const MemoryUse use = make_plan(test::small_study()).stages.at(0).memory;
    // Tensor, pipeline and data communicators; contexts of 512 to 1573 MiB.
    const double allocated = use.allocated().value;
    EXPECT_DOUBLE_EQ(use.overhead.least.value, (512 + 3 * 147) * MiB);
    EXPECT_DOUBLE_EQ(use.overhead.expected.value, (1042.5 + 3 * 147) * MiB + 0.048 * allocated);
    EXPECT_DOUBLE_EQ(use.overhead.most.value, (1573 + 3 * 147) * MiB + 0.093 * allocated);
}

// ZeRO-1 gives the gradients of a step back, 2 P bytes, of which the next activations may take pieces; its step holds
// copies of the gradients that it updates, one in fp32 and two in half precision, one before contiguous_gradients.
TEST(memory_use, of_zero_1_reserves_for_gradients_and_update_apart) {
    for (const auto& [version, copies] : {std::pair{"0.14", 8.0}, std::pair{"0.12", 6.0}}) {
        const std::string setting = std::string("deepspeed.version=\"") + version + "\"";
        const Stage stage = make_plan(test::small_study({"framework=deepspeed", "zero=1", setting})).stages.at(0);
        const MemoryUse& use = stage.memory;
        const double cut = std::min(2 * stage.dense, use.activations.value);
        EXPECT_DOUBLE_EQ(use.overhead.expected.value,
                         (1042.5 + 3 * 147) * MiB + 0.048 * use.allocated().value + cut / 2 + copies * stage.dense / 2);
        EXPECT_DOUBLE_EQ(use.overhead.least.value, (512 + 3 * 147) * MiB) << "a full allocator gives its cache back";
    }
}

// One rank updates everything with next to no activations: 8 P of copies, in place of 2 P of gradients, are the most
// that is there beside the states.
TEST(memory_use, is_fullest_in_the_update_where_that_is_so) {
    const std::vector<std::string> settings{
        "framework=deepspeed", "zero=1",  "layout.tensor=1", "layout.pipeline=1", "layout.data=1",
        "batch.sequence=16",   "nodes=1", "batch.global=1"};
    const Stage stage = make_plan(test::small_study(settings)).stages.at(0);
    EXPECT_EQ(stage.memory.activations, 0_B);
    EXPECT_DOUBLE_EQ(stage.memory.workspace.value, 6 * stage.dense + 64 * MiB);
}

// Nobody is refused for what an allocator may do: only for what is needed at the least.
TEST(plan, fits_where_the_least_does) {
    Plan plan = make_plan(test::small_study());
    const MemoryUse& fullest = plan.stages.at(plan.fullest_stage()).memory;
    plan.device.memory = fullest.least();
    EXPECT_TRUE(plan.fits());
    plan.device.memory = fullest.least() - 1_B;
    EXPECT_FALSE(plan.fits());
}

// Qwen3 8B in bf16 on sixteen H100 as data ranks alone ran out of memory under Megatron-Bridge, of 79.6 GiB.
TEST(plan, expects_too_little_memory_where_a_published_run_ran_out_of_it) {
    const Plan plan = make_plan(test::small_study(
        {"machine=dgx-h100", "model.layers=36", "model.hidden=4096", "model.heads=32", "model.kv_heads=8",
         "model.ffn_hidden=12288", "model.gated=true", "model.biases=false", "model.norm=rms_norm",
         "model.query_key_norm=true", "model.vocabulary=151936", "layout.tensor=1", "layout.pipeline=1",
         "layout.data=16", "batch.sequence=4096", "batch.global=64", "zero=1", "precision=bf16"}));
    EXPECT_GT(plan.stages.at(0).memory.total(), plan.device.memory);
}

// The most that torch had allocated on each stage of two on eight B200, 12 layers of Llama 3 70B, 4 of 405B: SimuMax
// (github MooreThreads/SimuMax, commit 4dcaae51), docs/b200/b200_release_v1.2_summary.json, peak_memory_by_rank_mb.
TEST(memory_use, of_both_stages_is_as_measured) {
    struct Case {
        std::vector<std::string> settings;
        double first, last;  // MiB
    };
    const std::vector<std::string> common{"machine=dgx-b200",
                                          "layout.tensor=1",
                                          "layout.pipeline=2",
                                          "layout.data=4",
                                          "batch.global=32",
                                          "batch.sequence=4096",
                                          "zero=1",
                                          "precision=bf16",
                                          "model.gated=true",
                                          "model.biases=false",
                                          "model.kv_heads=8",
                                          "model.norm=rms_norm",
                                          "model.vocabulary=128257",
                                          "megatron.fused_cross_entropy=true"};
    for (const Case& c :
         {Case{{"model.layers=12", "model.hidden=8192", "model.heads=64", "model.ffn_hidden=28672"}, 68149, 64479},
          Case{{"model.layers=4", "model.hidden=16384", "model.heads=128", "model.ffn_hidden=53248",
                "model.kv_heads=16"},
               88688,
               89173}}) {
        std::vector<std::string> settings = common;
        settings.insert(settings.end(), c.settings.begin(), c.settings.end());
        const Plan plan = make_plan(test::small_study(settings));
        EXPECT_NEAR(plan.stages.at(0).memory.allocated().value / (c.first * MiB), 1.0, 0.01);
        EXPECT_NEAR(plan.stages.at(1).memory.allocated().value / (c.last * MiB), 1.0, 0.01);
    }
}

// Llama 3.1 8B, two sequences of 8,192 on each rank, op-wise selective checkpointing, not compiled: torchtitan
// benchmarks/llama3_h100_202412_torchtitan.md, tables 1 and 3, which print what is reserved. Without the loss's fp32
// gradients it would be 13 GiB less.
TEST(memory_use, of_torchtitans_loss_is_as_printed) {
    for (const auto& [ranks, printed] : {std::pair{8U, 82.4}, std::pair{128U, 67.0}}) {
        std::vector<std::string> settings{"machine=dgx-h100",
                                          "framework=fsdp",
                                          "fsdp.version=2",
                                          "model=llama3-8b",
                                          "layout.tensor=1",
                                          "layout.pipeline=1",
                                          "layout.data=" + std::to_string(ranks),
                                          "batch.sequence=8192",
                                          "batch.micro=2",
                                          "batch.global=" + std::to_string(2 * ranks),
                                          "recompute=operations",
                                          "precision=bf16"};
        const auto plan = [&] {
            Plan plan = make_plan(test::small_study(settings));
            plan.device.memory = 96_GiB;
            return plan;
        };
        const Plan own = plan();
        EXPECT_EQ(own.stages.at(0).memory.at, FullestAt::loss);
        EXPECT_NEAR(own.reserved().value / (printed * 1024 * MiB), 1.0, 0.08) << ranks;
        settings.emplace_back("fsdp.fused_cross_entropy=true");
        EXPECT_LT(plan().stages.at(0).memory.allocated(), own.stages.at(0).memory.allocated() - Bytes{13e3 * MiB});
    }
}

}  // namespace
}  // namespace weft
