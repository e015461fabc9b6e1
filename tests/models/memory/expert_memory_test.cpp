#include <gtest/gtest.h>

#include <cmath>

#include "models/memory/memory.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

using testing::plain;

// Korthikanti et al. with sequence parallelism and context ranks: s b h (34/t + 5as/ht) / context.
TEST(layer_activations, of_context_ranks_are_shares_of_the_equations) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = testing::any_tensor(), heads = t * *rc::gen::inRange(1U, 17U);
        const std::uint32_t context = *rc::gen::element(2U, 4U, 8U);
        const Transformer model = plain(1, heads * 64, heads, 128);
        const double s = 8.0 * *rc::gen::inRange(1U, 500U), b = 3, h = model.hidden, a = heads;
        const Shard shard{.micro_batch = 3,
                          .sequence = static_cast<std::uint32_t>(s),
                          .tensor = t,
                          .attention = AttentionCore::unfused,
                          .sequence_parallel = SequenceParallel::on,
                          .dropout = Dropout::on,
                          .context = context};
        const double expected = s * b * h * (34.0 / t + 5 * a * s / (h * t)) / context;
        const double ours = layer_activations(model, LayerKind::dense, shard, {}).value;
        RC_ASSERT(std::abs(ours - expected) <= 1e-12 * expected);
    }));
}

// 32 tokens, h = 64, two of four experts of 48 here, top 2: 64 rows arrive. 2 bytes each: 64 x (64 + 48 + 48) of
// experts, 64 x 64 came back, 32 x 2 x 80 of shared experts, 32 x (192 + 64) of attention; 8 bytes x 32 x 64 of
// inputs; 4 bytes x 32 x 4 of the router's probabilities and of the attention softmax's sums.
TEST(layer_activations, of_experts_are_what_they_received) {
    Transformer model = plain(1, 64, 4, 128);
    model.experts = {.count = 4, .top_k = 2, .ffn_hidden = 48, .shared = 1, .shared_ffn_hidden = 80};
    Shard shard{.micro_batch = 2, .sequence = 16, .expert = 2};
    const double rest = 64 * 64 * 2 + 32 * 160 * 2 + 32 * 256 * 2 + 8 * 32 * 64 + 4 * 32 * 4 + 4 * 32 * 4;
    const auto kept = [&] { return layer_activations(model, LayerKind::expert, shard, {}).value; };
    EXPECT_EQ(kept(), 64 * 160 * 2 + rest);
    shard.imbalance = 1.25;
    EXPECT_EQ(kept(), 80 * 160 * 2 + rest);
    // Weights multiplied in earlier leave nothing to be kept of the rows that came back.
    EXPECT_EQ(
        layer_activations(model, LayerKind::expert, shard, {.expert_weights = ExpertWeights::in_activation}).value,
        kept() - 64 * 64 * 2);
    // Of backward's moments the return of the 64 gradient rows to where 80 had been computed is the widest.
    EXPECT_EQ(layer_workspace(model, LayerKind::expert, shard, {}).value, 2.0 * (32 * 64 + (64 + 80) * 64));
}

}  // namespace
}  // namespace weft
