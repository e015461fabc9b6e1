#include "models/device/device.hpp"

#include <gtest/gtest.h>

#include "models/transformer/flops.hpp"
#include "models/transformer/kernel_parts.hpp"
#include "tests/models/csv.hpp"
#include "tests/models/shapes.hpp"
#include "tests/models/transformer/dense_layer.hpp"

namespace weft {
namespace {

using testing::layer_backward;
using testing::layer_forward;
using testing::LayerKernels;

using testing::any_model;
using testing::any_shard;
using testing::any_tensor;
using testing::Row;

// A device of round numbers: 4 units of 10 x 10 tiles, 100 FLOP/s, 10 B/s.
Device toy() {
    Device device;
    device.peak_half = {100.0};
    device.peak_single = {50.0};
    device.memory_bandwidth = {20.0};
    device.memory_efficiency = 0.5;
    device.attention = {.forward = 0.25, .backward = 0.125};
    device.kernel_launch = {3.0};
    device.gemm = {.plateau = 0.8, .k_half = 5.0, .compute_units = 4, .tiles = {Tile{10, 10, 1.0}}};
    return device;
}

Kernel product(double m, double n, double k, double count = 1) { return gemm_kernel("product", m, n, k, 0.0, count); }

TEST(gemm_efficiency, of_full_waves_is_the_plateau_times_the_saturation) {
    EXPECT_DOUBLE_EQ(gemm_efficiency(toy().gemm, product(20, 20, 5)), 0.8 * 5 / 10);
    EXPECT_DOUBLE_EQ(gemm_efficiency(toy().gemm, product(20, 20, 45)), 0.8 * 45 / 50);
}

TEST(gemm_efficiency, loses_ragged_tiles_and_a_last_wave) {
    const GemmCurve curve{.plateau = 1.0, .k_half = 0.0, .compute_units = 4, .tiles = {Tile{10, 10, 1.0}}};
    EXPECT_DOUBLE_EQ(gemm_efficiency(curve, product(11, 20, 1)), 11.0 * 20 / 400);  // 2 x 2 tiles, ragged
    EXPECT_DOUBLE_EQ(gemm_efficiency(curve, product(50, 10, 1)), 5.0 / 8);          // 5 tiles in 2 waves of 4
    EXPECT_DOUBLE_EQ(gemm_efficiency(curve, product(10, 10, 1, 4)), 1.0);           // 4 products fill a wave
}

TEST(gemm_efficiency, takes_the_best_tile) {
    const GemmCurve curve{
        .plateau = 1.0, .k_half = 0.0, .compute_units = 4, .tiles = {Tile{10, 10, 1.0}, Tile{5, 5, 0.5}}};
    EXPECT_DOUBLE_EQ(gemm_efficiency(curve, product(20, 20, 1)), 1.0);  // four large tiles
    EXPECT_DOUBLE_EQ(gemm_efficiency(curve, product(10, 10, 1)), 0.5);  // four small ones, not one large of 1/4
}

// One tile on four units: alone a quarter of them works; cut in four, all do, for 3 * 600 steps of partial sums.
TEST(gemm_efficiency, splits_a_long_inner_dimension_over_idle_units) {
    const GemmCurve curve{.plateau = 1.0, .k_half = 0.0, .compute_units = 4, .tiles = {Tile{10, 10, 1.0}}};
    EXPECT_DOUBLE_EQ(gemm_efficiency(curve, product(10, 10, 100)), 0.25);
    EXPECT_DOUBLE_EQ(gemm_efficiency(curve, product(10, 10, 10000)), 10000.0 / (10000 + 3 * 600));
    EXPECT_DOUBLE_EQ(gemm_efficiency(curve, product(20, 20, 10000)), 1.0);  // nothing idle, nothing split
}

TEST(kernel_time, is_a_launch_and_the_longer_of_computing_and_moving) {
    const Device device = toy();
    Kernel kernel = product(20, 20, 5);  // 4000 FLOPs at 40 FLOP/s
    EXPECT_DOUBLE_EQ(kernel_time(device, Precision::fp16, kernel).value, 3 + 100);
    EXPECT_DOUBLE_EQ(kernel_time(device, Precision::fp32, kernel).value, 3 + 200);
    kernel.bytes = {2000.0};  // at 10 B/s
    EXPECT_DOUBLE_EQ(kernel_time(device, Precision::fp16, kernel).value, 3 + 200);
    EXPECT_DOUBLE_EQ(kernel_time(device, Precision::fp16, memory_kernel("norm", 100, 2)).value, 3 + 20);
}

TEST(kernel_time, of_attention_counts_the_flops_that_are_executed) {
    Kernel core{.name = "core",
                .kind = KernelKind::attention,
                .n = 8,
                .k = 64,
                .flops = {1000.0},
                .bytes = {1.0},
                .executed = 0.5};
    EXPECT_DOUBLE_EQ(kernel_time(toy(), Precision::bf16, core).value, 3 + 500 / 25.0);
}

// FlashAttention's kernel for heads of 96 takes as long for heads of 80; backward has a length of its own.
TEST(kernel_time, of_attention_grows_by_heads_of_32_and_by_keys_of_each_pass) {
    Device device = toy();
    device.attention = {.forward = 0.5, .backward = 0.5, .keys_half = 64, .keys_half_backward = 192};
    device.kernel_launch = {};
    Kernel core{.name = "core", .kind = KernelKind::attention, .n = 64, .k = 96, .flops = {960.0}, .bytes = {1.0}};
    const double whole = kernel_time(device, Precision::bf16, core).value;
    core.k = 80, core.flops = {800.0};
    EXPECT_DOUBLE_EQ(kernel_time(device, Precision::bf16, core).value, whole);
    core.kind = KernelKind::attention_backward;
    EXPECT_DOUBLE_EQ(kernel_time(device, Precision::bf16, core).value, 2 * whole) << "a quarter, not half";
}

// The first FlashAttention has a curve of its own: 1000 FLOPs at a quarter of 40 FLOP/s, and at half of them backward.
TEST(kernel_time, of_attention_in_triton_follows_its_own_curve) {
    Device device = toy();
    device.attention_triton = {.forward = 0.25, .backward = 0.5};
    device.peak_half = {40.0};
    Kernel core{.name = "core", .kind = KernelKind::attention, .n = 8, .k = 8, .flops = {1000.0}, .bytes = {1.0}};
    core.core = AttentionCore::triton;
    EXPECT_DOUBLE_EQ(kernel_time(device, Precision::bf16, core).value, 3 + 1000 / 10.0);
    core.kind = KernelKind::attention_backward;
    EXPECT_DOUBLE_EQ(kernel_time(device, Precision::bf16, core).value, 3 + 1000 / 20.0);
}

TEST(kernel_time, of_kernels_one_after_another_is_the_sum) {
    const std::vector<Kernel> kernels{product(20, 20, 5), memory_kernel("norm", 100, 2)};
    EXPECT_DOUBLE_EQ(kernel_time(toy(), Precision::fp16, kernels).value, 103 + 23);
    EXPECT_EQ(kernel_time(toy(), Precision::fp16, std::vector<Kernel>{}).value, 0.0);
    EXPECT_EQ(total_flops(kernels).value, 4000.0);
}

// Unaligned batches lose; single products of the same shape have kernels that pad.
TEST(gemm_efficiency, of_unaligned_batches_alone_is_less_where_the_device_says_so) {
    GemmCurve curve = toy().gemm;
    const double single = gemm_efficiency(curve, product(20, 20, 6)),
                 batched = gemm_efficiency(curve, product(20, 20, 6, 2));
    curve.alignments = {{.multiple = 4, .share = 0.5, .of = Alignment::Of::batched}};
    EXPECT_EQ(gemm_efficiency(curve, product(20, 20, 6)), single);
    EXPECT_DOUBLE_EQ(gemm_efficiency(curve, product(20, 20, 6, 2)), 0.5 * batched);
    curve.alignments[0].of = Alignment::Of::all;
    EXPECT_DOUBLE_EQ(gemm_efficiency(curve, product(20, 20, 6)), 0.5 * single);
}

// Two machines, each slow with probability 1/4: (3/4)^2 of the draws have none.
TEST(expected_slowdown, is_the_mean_of_the_slowest) {
    Device device = toy();
    device.slow_share = 0.25;
    device.slow_factor = 1.5;
    EXPECT_DOUBLE_EQ(expected_slowdown(device, 1), 1.0 + 0.5 / 4);
    EXPECT_DOUBLE_EQ(expected_slowdown(device, 2), 9.0 / 16 + 1.5 * 7 / 16);
    EXPECT_NEAR(expected_slowdown(device, 1000), 1.5, 1e-12);
    EXPECT_EQ(expected_slowdown(toy(), 1000), 1.0);
}

TEST(kernel_time, is_longer_by_clock_and_slowness) {
    Device device = toy();
    device.sustained_clock = 0.5;
    EXPECT_DOUBLE_EQ(kernel_time(device, Precision::fp16, product(20, 20, 5)).value, 3 + 200);
    device.slowdown = 1.5;
    EXPECT_DOUBLE_EQ(kernel_time(device, Precision::fp16, product(20, 20, 5)).value, 3 + 300);
    EXPECT_DOUBLE_EQ(pass_time(device, {3000.0}).value, 3 + 450);
}

TEST(pass_time, is_a_launch_and_the_bytes) {
    EXPECT_DOUBLE_EQ(pass_time(toy(), {3000.0}).value, 3 + 300);
    EXPECT_EQ(pass_time(toy(), {}).value, 0.0);
}

TEST(element_bytes, are_two_for_half_precisions) {
    EXPECT_EQ(element_bytes(Precision::fp16), 2.0);
    EXPECT_EQ(element_bytes(Precision::bf16), 2.0);
    EXPECT_EQ(element_bytes(Precision::fp32), 4.0);
}

class shipped_device : public ::testing::TestWithParam<std::string> {
  protected:
    Device device = load_device(GetParam());
};

TEST_P(shipped_device, is_named_as_its_file) { EXPECT_EQ(device.name, GetParam()); }

TEST_P(shipped_device, is_never_faster_than_its_roofline) {
    EXPECT_TRUE(rc::check([this] {
        const std::uint32_t t = any_tensor();
        const Transformer model = any_model(t);
        const Shard shard = any_shard(t);
        const LayerKernels forward = layer_forward(model, shard), backward = layer_backward(model, shard);
        for (const auto* kernels : {&forward.attention, &forward.mlp, &backward.attention, &backward.mlp}) {
            for (const Kernel& kernel : *kernels) {
                const Seconds time = kernel_time(device, Precision::bf16, kernel);
                RC_ASSERT(time >= device.kernel_launch + kernel.bytes / device.memory_bandwidth);
                RC_ASSERT(time >= device.kernel_launch + kernel.flops * kernel.executed / device.peak_half);
            }
        }
    }));
}

TEST_P(shipped_device, never_takes_less_time_for_more_work) {
    EXPECT_TRUE(rc::check([this] {
        // Multiples of 64: odd sizes are slower, so that one row more may gain more than it costs.
        const auto dimension = [] { return 64.0 * *rc::gen::inRange(1, 320); };
        const double m = dimension(), n = dimension(), k = dimension(), count = *rc::gen::inRange(1, 100);
        const double more_m = m + dimension(), more_n = n + dimension(), more_k = k + dimension();
        const auto time = [this](const Kernel& kernel) { return kernel_time(device, Precision::fp16, kernel); };
        // Equal where the larger product fits the same tiles; a rounding apart.
        const Seconds base = time(gemm_kernel("product", m, n, k, 2, count)) * (1 - 1e-12);
        RC_ASSERT(time(gemm_kernel("product", more_m, n, k, 2, count)) >= base);
        RC_ASSERT(time(gemm_kernel("product", m, more_n, k, 2, count)) >= base);
        RC_ASSERT(time(gemm_kernel("product", m, n, more_k, 2, count)) >= base);
        RC_ASSERT(time(gemm_kernel("product", m, n, k, 2, count + 1)) >= base);
    }));
}

INSTANTIATE_TEST_SUITE_P(devices, shipped_device, ::testing::ValuesIn(device_names()),
                         [](const auto& instance) { return testing::test_name(instance.param); });

// FLOP/s of layers with full recomputation: forward, forward again, backward; nothing but kernels.
double layer_rate(const Device& device, const Transformer& model, const Shard& shard) {
    const LayerKernels forward = layer_forward(model, shard), backward = layer_backward(model, shard);
    Flops flops;
    Seconds time;
    for (const auto* kernels : {&forward.attention, &forward.mlp}) {
        flops += total_flops(*kernels) * 2;
        time += kernel_time(device, Precision::fp16, *kernels) * 2;
    }
    for (const auto* kernels : {&backward.attention, &backward.mlp}) {
        flops += total_flops(*kernels);
        time += kernel_time(device, Precision::fp16, *kernels);
    }
    return (flops / time).value;
}

// Dash et al. 2023 measure 73.5, 69.2 and 61.2 TFLOP/s per die in whole steps; LUMI 67 to 72. Kernels alone are above.
TEST(mi250x_gcd, computes_large_layers_at_70_to_90_teraflops) {
    const Device die = load_device("mi250x-gcd");
    const auto rate = [&](std::string_view model, std::uint32_t sequence, std::uint32_t tensor,
                          AttentionCore attention) {
        const Shard shard{.sequence = sequence, .tensor = tensor, .attention = attention};
        return layer_rate(die, load_transformer(model), shard) / 1e12;
    };
    for (const double measured :
         {rate("frontier-22b", 2048, 1, AttentionCore::flash), rate("frontier-175b", 4096, 4, AttentionCore::flash),
          rate("frontier-1t", 2048, 4, AttentionCore::flash)}) {
        EXPECT_GT(measured, 70.0);
        EXPECT_LT(measured, 90.0);
    }
    EXPECT_GT(rate("lumi-175b", 2048, 8, AttentionCore::unfused), 65.0);
}

// No published run is faster than the kernels of its slowest stage alone, and these are most of it. Narayanan et al.
// 2021, A100-80: layers are dealt evenly; a step lasts as long as its micro-batches and the bubble of (p - 1) / v.
class sc21_step : public ::testing::TestWithParam<Row> {};

TEST_P(sc21_step, is_mostly_the_kernels_of_its_layers) {
    const Row& row = GetParam();
    const Device a100 = load_device("a100-80");
    const Transformer model = testing::plain(row.whole("L"), row.whole("h"), row.whole("a"), row.whole("V"));
    const Shard shard{.micro_batch = row.whole("mbs"),
                      .sequence = row.whole("seq"),
                      .tensor = row.whole("TP"),
                      .attention = AttentionCore::unfused};
    const double flops = 4.0 / 3.0 * model_flops(model, shard.micro_batch, shard.sequence).value;
    const double logits = 6.0 * shard.micro_batch * shard.sequence * row.number("V") * row.number("h");
    const double stages = row.number("PP"), micro_batches = row.number("gbs") / (row.number("DP") * row.number("mbs"));
    const double per_stage = (flops - 4.0 / 3.0 * logits) / (stages * row.number("TP"));
    const double slots = micro_batches + (stages - 1) / row.number("v");
    const double kernels = slots * per_stage / layer_rate(a100, model, shard);
    EXPECT_LT(kernels, row.number("iter_s_derived"));
    EXPECT_GT(kernels, 0.65 * row.number("iter_s_derived"));
}

INSTANTIATE_TEST_SUITE_P(runs, sc21_step, ::testing::ValuesIn(testing::read_table("sc21_megatron_table1.csv")),
                         [](const auto& instance) { return testing::test_name(instance.param.text("model")); });

// Llama 3 (2407.21783) table 4: 430 and 400 TFLOP/s of model FLOPs per H100 in whole steps of 16 pipeline stages, with
// no recomputation; MFU 43 and 41 %.
TEST(h100, computes_layers_of_llama3_405b_faster_than_its_steps) {
    const Device h100 = load_device("h100");
    const Transformer llama = load_transformer("llama3-405b");
    const Shard shard{.sequence = 8192, .tensor = 8, .sequence_parallel = SequenceParallel::on};
    const double rate = layer_rate(h100, llama, shard) / 1e12;
    EXPECT_GT(rate, 430.0);
    EXPECT_LT(rate, 700.0);
}

}  // namespace
}  // namespace weft
