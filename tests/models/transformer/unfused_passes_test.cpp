#include <gtest/gtest.h>

#include <algorithm>

#include "models/transformer/kernels.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

double moved(const std::vector<LayerPiece>& pieces, std::vector<Kernel> LayerPiece::*pass) {
    double sum = 0;
    for (const LayerPiece& piece : pieces) {
        for (const Kernel& kernel : piece.*pass) sum += kernel.bytes.value;
    }
    return sum;
}

double flops(const std::vector<LayerPiece>& pieces) {
    double sum = 0;
    for (const LayerPiece& piece : pieces) {
        for (const Kernel& kernel : piece.forward) sum += kernel.flops.value;
    }
    return sum;
}

struct Passes {
    double forward = 0, backward = 0;  // bytes
};

// Bytes that `changed` moves over what `plain` does.
Passes added(const Transformer& model, const Shard& plain, const Shard& changed) {
    const std::vector<LayerPiece> less = layer_pieces(model, LayerKind::dense, plain);
    const std::vector<LayerPiece> more = layer_pieces(model, LayerKind::dense, changed);
    EXPECT_EQ(flops(less), flops(more));
    return {moved(more, &LayerPiece::forward) - moved(less, &LayerPiece::forward),
            moved(more, &LayerPiece::input_backward) - moved(less, &LayerPiece::input_backward)};
}

Shard shard_of(AttentionCore attention, ElementWise element_wise) {
    return {.micro_batch = 2, .sequence = 64, .tensor = 4, .attention = attention, .element_wise = element_wise};
}

// 128 tokens of 64 elements, 2 bytes each. A rank rotates 16 elements of queries and 16 of keys: 8 passes more than the
// 2 of a fused kernel forward, 13 backward. Two biases: 2 passes each over whole states.
TEST(unfused_passes, are_counted_by_hand_for_gpt_neox) {
    const Transformer model = testing::plain(1, 64, 8, 512);
    const Passes more = added(model, shard_of(AttentionCore::unfused, ElementWise::fused),
                              shard_of(AttentionCore::unfused, ElementWise::unfused));
    EXPECT_DOUBLE_EQ(more.forward, 128 * 2.0 * (8 * 32 + 2 * 2 * 64));
    EXPECT_DOUBLE_EQ(more.backward, 128 * 2.0 * 13 * 32);
}

TEST(unfused_passes, stay_away_where_there_is_nothing_to_fuse) {
    Transformer model = testing::plain(1, 64, 8, 512);
    model.positions = Positions::learned;
    model.biases = false;
    const Passes more = added(model, shard_of(AttentionCore::flash, ElementWise::fused),
                              shard_of(AttentionCore::flash, ElementWise::unfused));
    EXPECT_EQ(more.forward, 0);
    EXPECT_EQ(more.backward, 0);
}

TEST(unfused_passes, are_as_many_with_parallel_residuals) {
    Transformer model = testing::plain(1, 64, 8, 512);
    const Shard fused = shard_of(AttentionCore::flash, ElementWise::fused);
    const Shard unfused = shard_of(AttentionCore::flash, ElementWise::unfused);
    const Passes one_after_another = added(model, fused, unfused);
    model.parallel_residual = true;
    EXPECT_EQ(added(model, fused, unfused).forward, one_after_another.forward);
}

// ALiBi is written to each of 2 x 8 / 4 matrices of 64 x 64 scores and read again, forward only.
TEST(unfused_passes, copy_alibi_to_every_score) {
    Transformer learned = testing::plain(1, 64, 8, 512), alibi = learned;
    learned.positions = Positions::learned;
    alibi.positions = Positions::alibi;
    const Shard shard = shard_of(AttentionCore::unfused, ElementWise::fused);
    const auto bytes = [&](const Transformer& model, std::vector<Kernel> LayerPiece::*pass) {
        return moved(layer_pieces(model, LayerKind::dense, shard), pass);
    };
    EXPECT_DOUBLE_EQ(bytes(alibi, &LayerPiece::forward) - bytes(learned, &LayerPiece::forward), 2.0 * 4 * 64 * 64 * 2);
    EXPECT_EQ(bytes(alibi, &LayerPiece::input_backward), bytes(learned, &LayerPiece::input_backward));
}

}  // namespace
}  // namespace weft
