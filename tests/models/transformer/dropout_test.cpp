// Dropout's passes against counts by hand: a mask of one byte beside what is read and written.
#include <gtest/gtest.h>

#include "models/transformer/kernels.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

constexpr Shard base{.micro_batch = 2, .sequence = 128, .tensor = 4, .attention = AttentionCore::unfused};

Bytes bytes(const std::vector<Kernel>& kernels) {
    Bytes sum;
    for (const Kernel& kernel : kernels) sum += kernel.bytes;
    return sum;
}

struct Moved {
    double forward = 0, backward = 0;  // bytes
};

Moved moved(const Transformer& model, const Shard& shard) {
    Moved sum;
    for (const LayerPiece& piece : layer_pieces(model, LayerKind::dense, shard)) {
        sum.forward += bytes(piece.forward).value;
        sum.backward += bytes(piece.input_backward).value + bytes(piece.weight_backward).value;
    }
    return sum;
}

// What dropout adds to a layer.
Moved added(const Transformer& model, Shard shard) {
    const Moved without = moved(model, shard);
    shard.dropout = Dropout::on;
    const Moved with = moved(model, shard);
    return {with.forward - without.forward, with.backward - without.backward};
}

// b s h = 2 * 128 * 64 = 16384 elements; scores b a s^2 / t = 2 * 8 * 128 * 128 / 4 = 65536.
TEST(dropout, of_a_layer_with_an_unfused_core_masks_two_states_and_the_scores) {
    const Moved extra = added(testing::plain(1, 64, 8, 1000), base);
    EXPECT_DOUBLE_EQ(extra.forward, 2 * 16384 * 1 + 65536 * (2 * 2 + 1));
    EXPECT_DOUBLE_EQ(extra.backward, 2 * 16384 * (2 * 2 + 1) + 65536 * (2 * 2 + 1));
}

TEST(dropout, is_the_same_with_parallel_residuals) {
    Transformer model = testing::plain(1, 64, 8, 1000);
    const Moved serial = added(model, base);
    model.parallel_residual = true;
    const Moved parallel = added(model, base);
    EXPECT_DOUBLE_EQ(parallel.forward, serial.forward);
    EXPECT_DOUBLE_EQ(parallel.backward, serial.backward);
}

TEST(dropout, inside_flash_attention_moves_nothing) {
    Shard shard = base;
    shard.attention = AttentionCore::flash;
    const Moved extra = added(testing::plain(1, 64, 8, 1000), shard);
    EXPECT_DOUBLE_EQ(extra.forward, 2 * 16384);
    EXPECT_DOUBLE_EQ(extra.backward, 2 * 16384 * 5);
}

TEST(dropout, of_states_is_shared_under_sequence_parallelism) {
    Shard shard = base;
    shard.attention = AttentionCore::flash;
    shard.sequence_parallel = SequenceParallel::on;
    const Moved extra = added(testing::plain(1, 64, 8, 1000), shard);
    EXPECT_DOUBLE_EQ(extra.forward, 2 * 16384 / 4.0);
    EXPECT_DOUBLE_EQ(extra.backward, 2 * 16384 / 4.0 * 5);
}

TEST(dropout, follows_the_embedding) {
    Shard shard = base;
    const Transformer model = testing::plain(1, 64, 8, 1000);
    const Bytes without = bytes(embedding_forward(model, shard)), back = bytes(embedding_backward(model, shard));
    shard.dropout = Dropout::on;
    EXPECT_DOUBLE_EQ((bytes(embedding_forward(model, shard)) - without).value, 16384 * 5);
    EXPECT_DOUBLE_EQ((bytes(embedding_backward(model, shard)) - back).value, 16384 * 5);
}

}  // namespace
}  // namespace weft
