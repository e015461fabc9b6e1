#include "models/memory/memory.hpp"

#include <gtest/gtest.h>

#include "tests/models/csv.hpp"
#include "tests/models/memory/dense_layer_memory.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

using testing::layer_activations;
using testing::layer_workspace;

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
            .sequence_parallel = sequence_parallel,
            .dropout = Dropout::on};
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

// In place of the scores 4 bytes for each of the b a s / t rows of them.
TEST(layer_activations, with_flash_attention_store_one_number_per_row_of_scores) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = any_tensor();
        const Transformer model = any_model(t);
        Shard fused = any_shard(t);
        fused.attention = AttentionCore::flash;
        Shard unfused = fused;
        unfused.attention = AttentionCore::unfused;
        const Bytes without_core = layer_activations(model, unfused, Recompute::selective);
        RC_ASSERT(layer_activations(model, fused, Recompute::selective) == without_core);
        const double rows = 1.0 * fused.micro_batch * model.heads * fused.sequence / t;
        const double statistics = (layer_activations(model, fused, Recompute::none) - without_core).value;
        RC_ASSERT(std::abs(statistics - 4.0 * rows) <= 1e-9 * without_core.value);
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
        // While a layer runs backward, all of its activations are there, kept or recomputed; the scores alone are not
        // there before backward is through with the MLP.
        const auto alive = [&](Recompute r) { return (kept(r) + layer_workspace(model, any, r)).value; };
        const double expected = alive(Recompute::none);
        RC_ASSERT(alive(Recompute::selective) <= (1 + 1e-12) * expected);
        RC_ASSERT(std::abs(alive(Recompute::full) - expected) <= 1e-12 * expected);
    }));
}

// h = 64, b s = 32, one rank, 4h MLP: beside the gradient of the hidden state that of the activation function's output,
// then of its input in place of the kept output: 32 x (64 + 256) elements.
TEST(layer_workspace, holds_the_gradients_of_the_widest_point) {
    const Transformer model = plain(1, 64, 4, 128);
    EXPECT_EQ(layer_workspace(model, shard(2, 16, 1, AttentionCore::unfused), Recompute::none).value,
              2.0 * 32 * (64 + 256));
    // At s = 256 the scores are wider: 2 x (2 x 4 x 256 x 256) elements, of which 512 x (64 + 256 + 256 + 32) take the
    // place of what the MLP kept (the mask's bytes are half an element each).
    EXPECT_EQ(layer_workspace(model, shard(2, 256, 1, AttentionCore::unfused), Recompute::none).value,
              2.0 * (512 * 64 + 2 * 2 * 4 * 256 * 256 - 512 * (64 + 256 + 256 + 32)));
}

// Two tensor ranks, each with half the tokens between the blocks: the gradient of the output is gathered, 32 x 64, and
// each half of a gated MLP's input, 32 x 128 in all, is narrower than that with the 32 x 64 of its output's gradient.
TEST(layer_workspace, holds_the_gathered_gradient_under_sequence_parallelism) {
    Transformer model = plain(1, 64, 4, 128);
    model.ffn_hidden = 128;
    model.gated = true;
    const Shard divided = shard(2, 16, 2, AttentionCore::flash, SequenceParallel::on);
    EXPECT_EQ(layer_workspace(model, divided, Recompute::none).value, 2.0 * (16 * 64 + 32 * 64 + 32 * 64));
}

double bytes(const std::vector<SavedTensor>& tensors, std::string_view name) {
    double sum = 0;
    for (const SavedTensor& tensor : tensors) sum += tensor.name == name ? tensor.bytes.value : 0;
    return sum;
}

// Llama 3 70B, one sequence of 4096: in units of s h elements four norms' inputs and outputs, 1 + 1/8 + 1/8 of queries,
// keys and values, 1 of the projection's input, 3 x 3.5 of the MLP; no masks; 4 bytes per head and token.
TEST(saved_tensors, of_a_llama_layer_are_counted_by_hand) {
    const Transformer model = load_transformer("llama3-70b");
    const Shard whole{.micro_batch = 1, .sequence = 4096};
    const double unit = 2.0 * 4096 * 8192;
    EXPECT_EQ(layer_activations(model, whole, Recompute::none).value, 16.75 * unit + 4.0 * 64 * 4096);
}

// DeepSeek-V2: 128 heads of 192 (queries, keys) and 128 (values), latent vectors of 1536 and 512, each kept twice.
TEST(saved_tensors, of_latent_attention_are_the_latent_vectors_and_what_the_core_takes) {
    const Transformer model = load_transformer("deepseek-v2");
    const Shard whole{.micro_batch = 1, .sequence = 4096};
    const std::vector<SavedTensor> kept = saved_tensors(model, LayerKind::dense, whole, {});
    EXPECT_EQ(bytes(kept, "latent queries") + bytes(kept, "latent keys and values"), 2.0 * 4096 * 2 * (1536 + 512));
    EXPECT_EQ(bytes(kept, "queries, keys and values"), 2.0 * 4096 * 128 * (192 + 192 + 128));
    EXPECT_EQ(bytes(kept, "projection's input"), 2.0 * 4096 * 128 * 128);
}

TEST(saved_tensors, hold_a_second_attention_output_where_heads_were_dealt) {
    const Transformer model = plain(1, 64, 4, 128);
    const Shard whole{.micro_batch = 2, .sequence = 16};
    const Bytes shared = layer_activations(model, LayerKind::dense, whole, {});
    Shard dealt = whole;
    dealt.context_output = ContextOutput::copied;
    const Bytes copied = layer_activations(model, LayerKind::dense, dealt, {});
    EXPECT_EQ((copied - shared).value, 2.0 * 32 * 64);
}

// In units of b s h: one byte of the norms' outputs, of the projection's operand beside the attention output, and four
// of the second map's operand, where there were two bytes of each but for the attention output, once.
TEST(saved_tensors, of_products_in_8_bits_are_kept_in_8_bits) {
    const Transformer model = plain(1, 64, 4, 128);
    Shard at{.micro_batch = 2, .sequence = 16};
    const Bytes wide = layer_activations(model, LayerKind::dense, at, {});
    at.casting = Casting::delayed;
    const Bytes narrow = layer_activations(model, LayerKind::dense, at, {});
    EXPECT_EQ((wide - narrow).value, 32.0 * 64 * (1 + 1 - 1 + 4));
    EXPECT_EQ(layer_activations(model, LayerKind::dense, at, {.recompute = Recompute::full}).value, 2.0 * 32 * 64);
}

TEST(saved_tensors, hold_queries_and_keys_on_both_sides_of_their_norms) {
    Transformer model = plain(1, 64, 4, 128);
    model.kv_heads = 2;
    const Shard at{.micro_batch = 2, .sequence = 16, .tensor = 2};
    const Bytes without = layer_activations(model, LayerKind::dense, at, {});
    model.query_key_norm = QueryKeyNorm::per_head;
    EXPECT_EQ((layer_activations(model, LayerKind::dense, at, {}) - without).value, 2.0 * 32 * (64 + 32) / 2);
}

// Two norm-sized inputs and fp32 probabilities: 4 s b h (1 + V/h) in the paper, with tied embeddings and no tensor
// ranks.
TEST(head_activations, follow_korthikanti_section_4_3) {
    const Transformer model = plain(1, 64, 4, 1280);
    const auto kept = [&](std::uint32_t tensor, CrossEntropy loss) {
        Shard at = shard(2, 16, tensor, AttentionCore::flash);
        at.cross_entropy = loss;
        return head_activations(model, at).value;
    };
    EXPECT_EQ(kept(1, CrossEntropy::unfused), 4.0 * 32 * (64 + 1280));
    EXPECT_EQ(kept(2, CrossEntropy::unfused), 4.0 * 32 * (64 + 640));
    // A fused kernel leaves 2-byte logits, over which it writes their gradient.
    EXPECT_EQ(kept(2, CrossEntropy::fused), 4.0 * 32 * 64 + 2.0 * 32 * 640);
    EXPECT_EQ(kept(1, CrossEntropy::autograd), kept(1, CrossEntropy::unfused));
    EXPECT_EQ(kept(2, CrossEntropy::apart), kept(2, CrossEntropy::fused));
}

// The input's gradient, the logits' unless in place, the weight's; the input gathered where its tokens were divided.
TEST(head_workspace, holds_the_gradients_of_the_output_layer) {
    const Transformer model = plain(1, 64, 4, 1280);
    Shard at = shard(2, 16, 1, AttentionCore::flash);
    EXPECT_EQ(head_workspace(model, at).value, 2.0 * (32 * 64 + 32 * 1280 + 1280 * 64));
    at.cross_entropy = CrossEntropy::fused;
    EXPECT_EQ(head_workspace(model, at).value, 2.0 * (32 * 64 + 1280 * 64));
    at.tensor = 2;
    at.sequence_parallel = SequenceParallel::on;
    EXPECT_EQ(head_workspace(model, at).value, 2.0 * (2 * 32 * 64 + 640 * 64));
}

// PyTorch's loss: two gradients in fp32 before the products begin, three over tensor ranks; of few tokens the products
// take more, when the logarithms (4 bytes) have gone and the gradient in half precision has come.
TEST(head_workspace, holds_the_gradients_of_an_unfused_loss) {
    const Transformer model = plain(1, 64, 4, 1280);
    Shard at = shard(2, 16, 1, AttentionCore::flash);
    at.micro_batch = 64;
    at.cross_entropy = CrossEntropy::autograd;
    EXPECT_EQ(head_workspace(model, at).value, 8.0 * 1024 * 1280);
    at.tensor = 2;
    EXPECT_EQ(head_workspace(model, at).value, 12.0 * 1024 * 640);
    at.tensor = 1;
    at.micro_batch = 1;
    at.sequence = 4;
    EXPECT_EQ(head_workspace(model, at).value, 2.0 * (4 * 64 + 1280 * 64) - 2.0 * 4 * 1280);
    at.cross_entropy = CrossEntropy::apart;
    EXPECT_EQ(head_workspace(model, at).value, 2.0 * (4 * 64 + 4 * 1280 + 1280 * 64));
}

TEST(embedding_activations, are_a_mask_and_the_tokens) {
    const Transformer model = plain(1, 64, 4, 1280);
    EXPECT_EQ(embedding_activations(model, shard(2, 16, 2, AttentionCore::flash)).value, 32.0 * 64 + 32 * 8);
    EXPECT_EQ(embedding_activations(model, {.micro_batch = 2, .sequence = 16}).value, 32.0 * 8);
}

TEST(memory_use, is_the_sum_of_its_parts) {
    const MemoryUse use{1_B, 2_B, 4_B, 8_B, 16_B, 32_B, {64_B, 128_B, 256_B}};
    EXPECT_EQ(use.allocated(), 63_B);
    EXPECT_EQ(use.least(), 127_B);
    EXPECT_EQ(use.total(), 191_B);
    EXPECT_EQ(use.most(), 319_B);
}

// Of each element of the hidden state: under autocast both norms' inputs take 2 bytes more, and queries, keys and
// values have three casts of their input instead of one, the halves of a gated MLP two; norms in parts keep 4 bytes
// more each. A gated function in parts keeps one half of the MLP's width more.
TEST(layer_activations, of_modules_in_parts) {
    Transformer model = plain(1, 1024, 16, 128);
    model.gated = true;
    model.ffn_hidden = 4096;
    const Shard shard{.micro_batch = 2, .sequence = 512};
    const double state = 2.0 * 512 * 1024, width = 2.0 * 512 * 4096;
    const auto more = [&](const Inventory& inventory) {
        const Bytes whole = weft::layer_activations(model, LayerKind::dense, shard, {});
        return (weft::layer_activations(model, LayerKind::dense, shard, inventory) - whole).value;
    };
    EXPECT_DOUBLE_EQ(more({.autocast = Autocast::on}), state * (2 * 2 + 2 * 2 + 1 * 2));
    EXPECT_DOUBLE_EQ(more({.norm_function = NormFunction::in_parts}), state * 2 * 4);
    EXPECT_DOUBLE_EQ(more({.gated_function = GatedFunction::in_parts}), width * 2);
}

}  // namespace
}  // namespace weft
