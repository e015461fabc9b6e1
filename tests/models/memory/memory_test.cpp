#include "models/memory/memory.hpp"

#include <gtest/gtest.h>

#include "tests/models/csv.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

using testing::any_model;
using testing::any_shard;
using testing::any_tensor;
using testing::plain;
using testing::Row;

Shard shard(std::uint32_t micro_batch, std::uint32_t sequence, std::uint32_t tensor, AttentionCore attention,
            SequenceParallel sequence_parallel = SequenceParallel::off) {
    return {.micro_batch = micro_batch,
            .sequence = sequence,
            .tensor = tensor,
            .attention = attention,
            .sequence_parallel = sequence_parallel};
}

class neox_activations : public ::testing::TestWithParam<Row> {};

TEST_P(neox_activations, of_a_layer_are_the_published_bytes) {
    const Row& row = GetParam();
    std::string name = row.text("model");
    name.back() = name.back() == 'M' ? 'm' : 'b';
    const Transformer model = load_transformer("gpt-neox-" + name);
    const Shard whole = shard(row.whole("b"), row.whole("s"), 1, AttentionCore::unfused);
    EXPECT_EQ(layer_activations(model, whole, Recompute::none).value, row.number("act_bytes_per_layer_none"));
    EXPECT_EQ(layer_activations(model, whole, Recompute::full).value, row.number("act_bytes_per_layer_full_ckpt"));
}

INSTANTIATE_TEST_SUITE_P(configs, neox_activations,
                         ::testing::ValuesIn(testing::read_table("flops_memory_expected.csv")),
                         [](const auto& instance) { return testing::test_name(instance.param.text("model")); });

// Korthikanti et al. equations 1 to 6 for a plain layer: s b h (10 + 24/t + 5as/ht), with sequence parallelism
// s b h (34/t + 5as/ht), selective without the last term, full 2sbh.
TEST(layer_activations, of_a_plain_layer_follow_the_equations) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = any_tensor(), b = *rc::gen::inRange(1U, 9U), seq = *rc::gen::inRange(1U, 5000U);
        const std::uint32_t heads = t * *rc::gen::inRange(1U, 17U);
        const Transformer model = plain(1, heads * 64, heads, 128);
        const double s = seq, h = model.hidden, a = heads, sbh = s * b * h, scores = 5 * a * s / (h * t);
        const auto close = [](Bytes ours, double theirs) { return std::abs(ours.value - theirs) <= 1e-12 * theirs; };

        const Shard apart = shard(b, seq, t, AttentionCore::unfused);
        RC_ASSERT(close(layer_activations(model, apart, Recompute::none), sbh * (10 + 24.0 / t + scores)));
        RC_ASSERT(close(layer_activations(model, apart, Recompute::selective), sbh * (10 + 24.0 / t)));
        RC_ASSERT(close(layer_activations(model, apart, Recompute::full), 2 * sbh));

        const Shard along = shard(b, seq, t, AttentionCore::unfused, SequenceParallel::on);
        RC_ASSERT(close(layer_activations(model, along, Recompute::none), sbh * (34.0 / t + scores)));
        RC_ASSERT(close(layer_activations(model, along, Recompute::full), 2 * sbh / t));
    }));
}

TEST(layer_activations, with_flash_attention_store_no_scores) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = any_tensor();
        const Transformer model = any_model(t);
        Shard fused = any_shard(t);
        fused.attention = AttentionCore::flash;
        Shard unfused = fused;
        unfused.attention = AttentionCore::unfused;
        RC_ASSERT(layer_activations(model, fused, Recompute::none) ==
                  layer_activations(model, unfused, Recompute::selective));
    }));
}

TEST(layer_activations, shrink_with_every_step_of_recomputation_and_are_made_up_for_by_the_workspace) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = any_tensor();
        const Transformer model = any_model(t);
        const Shard any = any_shard(t);
        const auto kept = [&](Recompute r) { return layer_activations(model, any, r); };
        RC_ASSERT(kept(Recompute::none) >= kept(Recompute::selective));
        RC_ASSERT(kept(Recompute::selective) > kept(Recompute::full));
        // While a layer runs backward, all of its activations are there, kept or recomputed.
        const auto alive = [&](Recompute r) { return (kept(r) + layer_workspace(model, any, r)).value; };
        const double expected = alive(Recompute::none);
        RC_ASSERT(std::abs(alive(Recompute::selective) - expected) <= 1e-12 * expected);
        RC_ASSERT(std::abs(alive(Recompute::full) - expected) <= 1e-12 * expected);
    }));
}

// h = 64, b s = 32, one rank: 4h MLP: 32 x (64 + 256 + 256) elements; scores of 4 heads: 32 x 64 + 2 x 2 x 4 x 16 x 16.
TEST(layer_workspace, holds_the_gradients_of_the_widest_point) {
    const Transformer model = plain(1, 64, 4, 128);
    EXPECT_EQ(layer_workspace(model, shard(2, 16, 1, AttentionCore::unfused), Recompute::none).value,
              2.0 * 32 * (64 + 256 + 256));
    // At s = 256 the scores are wider: 512 x 64 + 2 x (2 x 4 x 256 x 256) elements.
    EXPECT_EQ(layer_workspace(model, shard(2, 256, 1, AttentionCore::unfused), Recompute::none).value,
              2.0 * (512 * 64 + 2 * 2 * 4 * 256 * 256));
}

// Two norm-sized inputs and fp32 probabilities: 4 s b h (1 + V/h) in the paper, with tied embeddings and no tensor
// ranks.
TEST(head_activations, follow_korthikanti_section_4_3) {
    const Transformer model = plain(1, 64, 4, 1280);
    EXPECT_EQ(head_activations(model, shard(2, 16, 1, AttentionCore::flash)).value, 4.0 * 32 * (64 + 1280));
    EXPECT_EQ(head_activations(model, shard(2, 16, 2, AttentionCore::flash)).value, 4.0 * 32 * (64 + 640));
}

TEST(embedding_activations, are_a_mask_and_the_tokens) {
    const Transformer model = plain(1, 64, 4, 1280);
    EXPECT_EQ(embedding_activations(model, shard(2, 16, 2, AttentionCore::flash)).value, 32.0 * 64 + 32 * 8);
}

TEST(memory_use, is_the_sum_of_its_parts) { EXPECT_EQ((MemoryUse{1_B, 2_B, 4_B, 8_B, 16_B, 32_B}.total()), 63_B); }

}  // namespace
}  // namespace weft
