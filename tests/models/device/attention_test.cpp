// Rates of fused attention: which curve a kernel follows, against the published rates that the curves stand for.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace weft
