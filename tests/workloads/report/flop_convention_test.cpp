// TFLOP/s as published runs print them, from their own step times.
#include "workloads/report/report.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

double tflops(const char* job, FlopConvention convention, double seconds) {
    const Study study = read_study(Document::parse("job.json", job));
    return flop_rate(study.job, convention, Seconds{seconds}).value / 1e12;
}

// github.com/spyysalo/lumi-llm-scaling at 7314958: 346.69 s per iteration printed as 67.03 TFLOP/s per GCD.
constexpr const char* lumi = R"({"machine": "lumi-g", "framework": "deepspeed", "recompute": "full",
    "model": {"layers": 70, "hidden": 14336, "heads": 112, "vocabulary": 51200, "vocabulary_multiple": 1,
              "tied_embeddings": true, "positions": "alibi"},
    "layout": {"tensor": 8, "pipeline": 8, "data": 2}, "batch": {"sequence": 2048, "micro": 2, "global": 1024}})";

TEST(flop_convention, megatron_deepspeed_prints_lumis_figure) {
    EXPECT_NEAR(tflops(lumi, FlopConvention::megatron, 346.69), 67.03, 0.005);
}

// github.com/bigscience-workshop/bigscience, BLOOM's prequel chronicle of 2022-02-21: 143.31 s at 112.49 TFLOP/s.
TEST(flop_convention, megatron_deepspeed_prints_blooms_figure) {
    EXPECT_NEAR(tflops(R"({"machine": "dgx-a100", "framework": "deepspeed", "recompute": "full",
                           "model": {"layers": 72, "hidden": 14336, "heads": 64, "vocabulary": 250880,
                                     "vocabulary_multiple": 1, "positions": "alibi"},
                           "layout": {"tensor": 8, "pipeline": 12, "data": 4},
                           "batch": {"sequence": 2048, "micro": 1, "global": 2048}})",
                       FlopConvention::megatron, 143.31),
                112.49, 0.1);
}

// 72 in place of 96: without the recomputed forward pass, but for the vocabulary (V / 12 L h in place of V / 16 L h).
TEST(flop_convention, model_flops_leave_recomputation_out) {
    const double shape = 1 + 2048 / (6.0 * 14336);
    const double megatron = shape + 51200 / (16.0 * 70 * 14336), model = shape + 51200 / (12.0 * 70 * 14336);
    EXPECT_NEAR(tflops(lumi, FlopConvention::model, 346.69),
                0.75 * tflops(lumi, FlopConvention::megatron, 346.69) * model / megatron, 1e-9);
}

// Narayanan et al. 2021, table 1: 18.4B at 135 TFLOP/s and 1008B at 163, both with full recomputation.
TEST(flop_convention, megatron_counts_recomputation_only_where_there_is_any) {
    std::string job = R"({"machine": "dgx-a100", "framework": "megatron", "recompute": "full",
        "model": {"layers": 40, "hidden": 6144, "heads": 48, "vocabulary": 51200, "vocabulary_multiple": 1},
        "layout": {"tensor": 8, "data": 32}, "batch": {"sequence": 2048, "micro": 8, "global": 1024}})";
    const double with = tflops(job.c_str(), FlopConvention::megatron, 9.40);
    EXPECT_NEAR(with, 135, 0.5);
    job.replace(job.find("\"full\""), 6, "\"none\"");
    EXPECT_NEAR(tflops(job.c_str(), FlopConvention::megatron, 9.40), 0.75 * with, 1e-9);
}

// GPT-NeoX-20B (Black et al. 2022, 2204.06745): 117 TFLOP/s per GPU on 96 A100, 1830 hours for 150,000 steps of 1538
// sequences, 43.9 s each.
TEST(flop_convention, neox_printed_117_for_gpt_neox_20b) {
    EXPECT_NEAR(tflops(R"({"machine": "dgx-a100", "nodes": 12, "framework": "deepspeed", "model": "gpt-neox-20b",
                           "layout": {"tensor": 2, "pipeline": 4, "data": 12},
                           "batch": {"sequence": 2048, "micro": 4, "global": 1536}})",
                       FlopConvention::neox, 1830 * 3600.0 / 150000),
                117, 1.2);
}

// Megatron-core 0.8, training.py, num_floating_point_operations(): Llama 3 8B, 12 B s L h^2 (1 + g/a + 3/2 f/h + s/h +
// V/2Lh), g/a = 8/32, f/h = 14336/4096.
TEST(flop_convention, megatron_core_counts_gated_and_grouped_matrices) {
    const double h = 4096, layers = 32, s = 8192, vocabulary = 128256, sequences = 128, ranks = 8;
    const double shape = 1 + 8.0 / 32 + 1.5 * 14336 / h + s / h + vocabulary / (2 * layers * h);
    EXPECT_NEAR(tflops(R"({"machine": "dgx-h100", "framework": "megatron", "model": "llama3-8b",
                           "layout": {"tensor": 4, "data": 2},
                           "batch": {"sequence": 8192, "micro": 1, "global": 128}})",
                       FlopConvention::megatron_core, 10.0),
                12 * sequences * s * layers * h * h * shape / (10.0 * ranks) / 1e12, 1e-9);
}

// Qwen3 235B on 256 H100 (NVIDIA/Megatron-LM f13818d695, examples/moe-modelzoo, best_practice/qwen3/readme.md): 19.7 s
// printed as 245 TFLOP/s, and 24.2 s as 200, by versions that count half of attention; 278 and 226 in full.
TEST(flop_convention, megatron_core_counts_half_of_attention_since_core_0_12) {
    const auto printed = [](const char* version, double seconds) {
        const std::string job = R"({"machine": "dgx-h100", "nodes": 32, "framework": "megatron",
            "model": "qwen3-235b-a22b", "layout": {"tensor": 1, "data": 256, "expert": 32},
            "batch": {"sequence": 4096, "micro": 1, "global": 2048},
            "megatron": {"version": ")";
        return tflops((job + version + R"("}})").c_str(), FlopConvention::megatron_core, seconds);
    };
    EXPECT_NEAR(printed("core-0.12", 19.7), 245, 2.0);
    EXPECT_NEAR(printed("core-0.12", 24.2), 200, 2.0);
    EXPECT_NEAR(printed("core-0.11", 19.7), 278, 2.0);
}

}  // namespace
}  // namespace weft
