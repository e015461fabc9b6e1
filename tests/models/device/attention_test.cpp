// Rates of fused attention: which curve a kernel follows, against the published rates that the curves stand for.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/device/device.hpp"
#include "models/transformer/kernel_parts.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

// TFLOP/s of the FLOPs that causal attention executes, 16384 tokens in sequences of `sequence`, 16 heads of 128.
double rate(const Device& device, AttentionCore core, std::uint32_t sequence, bool backward) {
    const Transformer model = testing::plain(1, 2048, 16, 1000);
    const Shard shard{.micro_batch = 16384 / sequence, .sequence = sequence, .attention = core};
    const LayerPiece piece = core_piece(model, LayerKind::dense, shard);
    const Kernel& kernel = backward ? piece.input_backward.front() : piece.forward.front();
    return kernel.flops.value * kernel.executed / kernel_time(device, Precision::bf16, kernel).value / 1e12;
}

// FlashAttention-3 (2407.08608), figures 5 and 6, read from the charts: FlashAttention-2 and cuDNN on H100, causal,
// head size 128. FlashAttention-2 is as quick in full nodes, cuDNN's kernels on one device alone.
TEST(attention, has_the_rates_of_h100s_charts) {
    Device h100 = load_device("h100");
    EXPECT_NEAR(rate(h100, AttentionCore::flash, 16384, false), 370, 30);
    EXPECT_NEAR(rate(h100, AttentionCore::flash, 16384, true), 310, 30);
    h100.sustained_clock = 1;
    EXPECT_NEAR(rate(h100, AttentionCore::cudnn, 16384, false), 600, 60);
    EXPECT_NEAR(rate(h100, AttentionCore::cudnn, 16384, true), 510, 60);
    EXPECT_LT(rate(h100, AttentionCore::cudnn, 512, false), 0.6 * rate(h100, AttentionCore::cudnn, 16384, false));
}

TEST(attention, of_the_vendor_is_that_of_others_where_none_is_known) {
    const Device a100 = load_device("a100-80");
    for (const std::uint32_t sequence : {512U, 4096U}) {
        EXPECT_EQ(rate(a100, AttentionCore::cudnn, sequence, false), rate(a100, AttentionCore::flash, sequence, false));
        EXPECT_EQ(rate(a100, AttentionCore::cudnn, sequence, true), rate(a100, AttentionCore::flash, sequence, true));
    }
}

// TFLOP/s of the FLOPs that count, those of the pairs that meet, 64 heads, two sequences of 4,096.
double useful_rate(const Device& device, const Shard& shard, std::uint32_t head, LayerKind kind, bool backward) {
    Transformer model = testing::plain(1, 64 * head, 64, 1000);
    model.window.tokens = 128;
    const LayerPiece piece = core_piece(model, kind, shard);
    const Kernel& kernel = backward ? piece.input_backward.back() : piece.forward.back();
    const double counted = backward ? 1.25 : 1.0;  // five products where four count
    return 0.5 * counted * kernel.flops.value / kernel_time(device, Precision::fp8, kernel).value / 1e12;
}

// NVIDIA/cudnn-frontend 3929da2e, benchmark/sdpa_benchmark_training/results, on GB200, two sequences of 4,096 tokens,
// 64 heads. MXFP8, head size 128 (llama3.1): 1,685 and 1,054. Head size 64 in windows of 128 (gpt_oss): 80.5 forward,
// and backward 2.08 ms for 42.3 GFLOP, since it skips nothing; in 16 bits 80.5 and 91.
TEST(attention, in_8_bits_has_the_rates_of_gb200s_table) {
    Device gb200 = load_device("gb200");
    gb200.sustained_clock = 0.9;  // of its peak, 2,500 TFLOP/s; constants are over 2,250
    Shard shard{.micro_batch = 2, .sequence = 4096, .attention = AttentionCore::cudnn, .casting = Casting::mxfp8};
    shard.narrow_attention = true;
    const auto over = [&](std::uint32_t head, LayerKind kind, bool backward, double measured) {
        return useful_rate(gb200, shard, head, kind, backward) / measured;
    };
    EXPECT_NEAR(over(128, LayerKind::dense, false, 1685), 1.0, 0.05);
    EXPECT_NEAR(over(128, LayerKind::dense, true, 1054), 1.0, 0.05);
    EXPECT_NEAR(over(64, LayerKind::windowed_dense, false, 80.5), 1.5, 0.1);
    EXPECT_NEAR(over(64, LayerKind::windowed_dense, true, 42.3 / 2.08), 1.0, 0.1);
    shard.narrow_attention = false;
    EXPECT_NEAR(over(64, LayerKind::windowed_dense, false, 80.5), 1.27, 0.1);
    EXPECT_NEAR(over(64, LayerKind::windowed_dense, true, 91), 0.65, 0.1);
}

// NVIDIA/cudnn-frontend, benchmark/sdpa_benchmark_training, alone, causal, head size 128: cuDNN 9.17 on GB200 and GB300
// (b372d39), 9.22 there (3929da2e), 9.13 on B200 and GB300 (0b1577c).
TEST(attention, of_cudnn_has_the_rates_of_its_releases_on_blackwell) {
    struct Measured {
        const char* device;
        AttentionCore core;
        std::uint32_t sequence;
        double forward, backward;
    };
    constexpr AttentionCore now = AttentionCore::cudnn, before = AttentionCore::cudnn_9_13;
    for (const Measured& one :
         {Measured{"gb200", now, 4096, 1386, 1054}, Measured{"gb200", now, 16384, 1668, 1304},
          Measured{"gb200", now, 4096, 1408, 1148}, Measured{"gb200", now, 16384, 1708, 1328},
          Measured{"gb300", now, 4096, 1682, 1110}, Measured{"gb300", now, 16384, 1978, 1399},
          Measured{"gb300", now, 4096, 1703, 1248}, Measured{"gb300", now, 16384, 1915, 1507},
          Measured{"b200", before, 4096, 856, 701}, Measured{"b200", before, 16384, 1332, 1075},
          Measured{"gb300", before, 4096, 1145, 893}, Measured{"gb300", before, 16384, 1702, 1268}}) {
        const Device device = load_device(one.device);
        EXPECT_NEAR(rate(device, one.core, one.sequence, false) / one.forward, 1, 0.15) << one.device << one.sequence;
        EXPECT_NEAR(rate(device, one.core, one.sequence, true) / one.backward, 1, 0.15) << one.device << one.sequence;
    }
    const Device h100 = load_device("h100");  // not known to differ there
    EXPECT_EQ(rate(h100, before, 4096, false), rate(h100, now, 4096, false));
}

// Head sizes against 128, forward, 16 bits: 64 0.59 (ai-dynamo/aiconfigurator 095f58a5, gb200/attention), 256 1.02
// (NVIDIA/cudnn-frontend 3929da2e, qwen35 against llama3.1).
TEST(attention, of_small_heads_is_slower_and_of_large_ones_no_faster_on_gb200) {
    const Device gb200 = load_device("gb200");
    const Shard shard{.micro_batch = 2, .sequence = 4096, .attention = AttentionCore::cudnn};
    const double whole = useful_rate(gb200, shard, 128, LayerKind::dense, false);
    EXPECT_NEAR(useful_rate(gb200, shard, 64, LayerKind::dense, false) / whole, 0.59, 0.1);
    EXPECT_NEAR(useful_rate(gb200, shard, 256, LayerKind::dense, false) / whole, 1.0, 0.03);
}

// A window's tiles reach beyond it, but never beyond the half that is not masked.
TEST(attention, in_windows_executes_whole_tiles) {
    Transformer model = testing::plain(1, 1024, 8, 1000);
    const Shard shard{.micro_batch = 1, .sequence = 4096};
    for (const std::uint32_t tokens : {64U, 128U, 1024U, 3000U, 4096U}) {
        model.window.tokens = tokens;
        const Kernel windowed = core_piece(model, LayerKind::windowed_dense, shard).forward.front();
        const Kernel whole = core_piece(model, LayerKind::dense, shard).forward.front();
        const double executed = windowed.flops.value * windowed.executed, all = whole.flops.value * whole.executed;
        EXPECT_NEAR(executed, std::min(all, windowed.flops.value * 0.5 * (1.0 + 128.0 / tokens)), 1e-9 * all);
    }
}

}  // namespace
}  // namespace weft
