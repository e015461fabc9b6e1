// The fullest moment of a stage and what stands beside its tensors, against hand counts and measured peaks.
#include "workloads/stage_memory.hpp"

#include <gtest/gtest.h>

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
    EXPECT_EQ(use.total(), use.allocated() + use.overhead);
    // Tensor, pipeline and data communicators.
    EXPECT_DOUBLE_EQ(use.overhead.value, 512 * MiB + 3 * 147 * MiB + 0.048 * use.allocated().value);
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

}  // namespace
}  // namespace weft
