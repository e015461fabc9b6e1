#include "workloads/recorded/step_comparison.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "workloads/job/job.hpp"

namespace weft {
namespace {

const std::filesystem::path traces = std::filesystem::path(WEFT_SOURCE_DIR) / "../shared/reference/gpu";

struct Recorded {
    const char* file;
    const char* model;  // and batch, as JSON's members
};

// One H100, FSDP2 (the traces' INDEX.md).
constexpr Recorded recorded[] = {
    {"trace_gpt-125m_1024x8.json.gz",
     R"("model": {"layers": 12, "hidden": 768, "heads": 12, "vocabulary": 50304, "vocabulary_multiple": 1,
        "ffn_hidden": 3072, "positions": "learned", "positions_length": 1024},
        "batch": {"sequence": 1024, "micro": 8, "global": 8})"},
    {"trace_llama-1b_2048x4.json.gz",
     R"("model": {"layers": 16, "hidden": 2048, "heads": 32, "kv_heads": 8, "vocabulary": 128256,
        "vocabulary_multiple": 1, "ffn_hidden": 8192, "gated": true, "norm": "rms_norm", "biases": false},
        "batch": {"sequence": 2048, "micro": 4, "global": 4})"},
    {"trace_llama-8b-8layers_8192x1.json.gz",
     R"("model": {"layers": 8, "hidden": 4096, "heads": 32, "kv_heads": 8, "vocabulary": 128256,
        "vocabulary_multiple": 1, "ffn_hidden": 14336, "gated": true, "norm": "rms_norm", "biases": false},
        "batch": {"sequence": 8192, "micro": 1, "global": 1})"},
    {"trace_moe-16x2_4096x2.json.gz",
     R"("model": {"layers": 8, "hidden": 2048, "heads": 16, "vocabulary": 32000, "vocabulary_multiple": 1,
        "ffn_hidden": 4096, "gated": true, "norm": "rms_norm", "biases": false,
        "experts": {"count": 16, "top_k": 2, "ffn_hidden": 4096}},
        "batch": {"sequence": 4096, "micro": 2, "global": 2})"},
};

Simulation simulated(const Recorded& step) {
    const Study study =
        read_study(Document::parse("job.json", std::string(R"({"machine": {"extends": "dgx-h100", "nodes": 1},
        "layout": {"data": 1}, "attention": "cudnn", "precision": "bf16", "modules": "plain", "framework": "fsdp",
        "fsdp": {"version": 2, "reduce_precision": "fp32"}, )") +
                                                   step.model + "}"));
    return simulate_step(study, make_plan(study));
}

void expect_whole(const StepComparison& found) {
    for (const std::size_t side : {0U, 1U}) {
        std::int64_t sum = 0, by_layer = 0;
        for (const ComparedWork& work : found.classes) sum += work.exposed[side];
        for (const ComparedWork& work : found.layers) by_layer += work.exposed[side];
        EXPECT_EQ(by_layer, sum);
        for (const ComparedGap& gap : found.gaps) sum += gap.femtoseconds[side];
        EXPECT_EQ(sum, found.duration[side]);
    }
}

TEST(step_comparison, real_steps_find_their_counterparts_and_add_up) {
    if (!std::filesystem::exists(traces)) GTEST_SKIP() << "no traces beside the project";
    for (const Recorded& each : recorded) {
        SCOPED_TRACE(each.file);
        const StepComparison found = compare_step(read_kineto(traces / each.file), simulated(each));
        expect_whole(found);
        EXPECT_GE(found.named, 0.97);
        EXPECT_GE(found.matched, 0.95);
        EXPECT_NEAR(static_cast<double>(found.duration[1]) / static_cast<double>(found.duration[0] - found.profiling),
                    1.0, 0.18);
    }
}

}  // namespace
}  // namespace weft
