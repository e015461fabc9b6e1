#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "models/transformer/kernels.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

using Pass = std::vector<Kernel> LayerPiece::*;

// Of a layer: bytes of its passes, and its products.
struct Sum {
    double passes = 0, products = 0, flops = 0;
};
Sum sum_of(const std::vector<LayerPiece>& pieces, Pass pass) {
    Sum sum;
    for (const LayerPiece& piece : pieces) {
        for (const Kernel& kernel : piece.*pass) {
            sum.flops += kernel.flops.value;
            if (kernel.kind == KernelKind::memory) sum.passes += kernel.bytes.value;
            if (kernel.kind == KernelKind::gemm) sum.products += 1;
        }
    }
    return sum;
}

// 128 tokens of 64 elements, eight heads of eight, inner width of 256: RMSNorm, rotation, SwiGLU, no biases.
Transformer llama() {
    Transformer model = testing::plain(1, 64, 8, 512);
    model.norm = Norm::rms_norm;
    model.biases = false;
    model.gated = true;
    return model;
}
Shard shard_of(ModuleCode modules, Autocast autocast = Autocast::off) {
    return {.micro_batch = 2, .sequence = 64, .modules = modules, .autocast = autocast};
}
std::vector<LayerPiece> layer(const Transformer& model, const Shard& shard) {
    return layer_pieces(model, LayerKind::dense, shard);
}

TEST(eager_pieces, compute_what_fused_ones_do_in_a_product_for_each_map) {
    for (const bool gated : {false, true}) {
        Transformer model = llama();
        model.gated = gated;
        const auto fused = layer(model, shard_of(ModuleCode::framework)),
                   eager = layer(model, shard_of(ModuleCode::plain));
        for (const Pass pass : {&LayerPiece::forward, &LayerPiece::input_backward, &LayerPiece::weight_backward}) {
            EXPECT_DOUBLE_EQ(sum_of(eager, pass).flops, sum_of(fused, pass).flops);
            EXPECT_EQ(sum_of(eager, pass).products, gated ? 7 : 6);
        }
    }
}

// Per token, h the width: two norms 2 x 2h x 2 bytes, two residuals 3h x 2; rotation of queries and keys, 2h elements
// of 2 + 4, 8 and 4 + 2 bytes; silu and gate 5 f x 2.
TEST(eager_pieces, are_counted_by_hand) {
    const Transformer model = llama();
    const double h = 64, f = model.ffn_hidden, tokens = 128;
    const auto plain = layer(model, shard_of(ModuleCode::plain));
    EXPECT_DOUBLE_EQ(sum_of(plain, &LayerPiece::forward).passes, tokens * (8 * h + 12 * h + 2 * h * 20 + 10 * f));
    // Norms 5h each, residual gradients 3h each, sums of three and of two gradients 6h and 3h; gate 6f, silu 3f.
    EXPECT_DOUBLE_EQ(sum_of(plain, &LayerPiece::input_backward).passes,
                     tokens * (2 * (10 * h + 6 * h) + 2 * (6 * h + 3 * h) + 2 * h * 20 + 18 * f));
}

// In fp32: norms 8 bytes a read and write, residuals 4 + 2 + 4, and casts of five maps' inputs.
TEST(eager_pieces, cast_the_inputs_of_maps_under_autocast) {
    const Transformer model = llama();
    const double h = 64, f = model.ffn_hidden, tokens = 128;
    const auto cast = layer(model, shard_of(ModuleCode::plain, Autocast::on));
    EXPECT_DOUBLE_EQ(sum_of(cast, &LayerPiece::forward).passes,
                     tokens * (16 * h + 20 * h + 5 * 6 * h + 2 * h * 20 + 10 * f));
}

TEST(eager_pieces, of_transformers_move_more_by_norms_and_rotation) {
    const Transformer model = llama();
    const auto plain = layer(model, shard_of(ModuleCode::plain)),
               library = layer(model, shard_of(ModuleCode::transformers));
    EXPECT_GT(sum_of(library, &LayerPiece::forward).passes, sum_of(plain, &LayerPiece::forward).passes);
    EXPECT_GT(sum_of(library, &LayerPiece::input_backward).passes, sum_of(plain, &LayerPiece::input_backward).passes);
}

TEST(eager_pieces, are_fused_again_by_a_compiler_but_for_the_loss) {
    const Transformer model = llama();
    Shard shard = shard_of(ModuleCode::plain);
    shard.compile = Compile::blocks;
    shard.cross_entropy = CrossEntropy::autograd;
    EXPECT_DOUBLE_EQ(sum_of(layer(model, shard), &LayerPiece::forward).passes,
                     sum_of(layer(model, shard_of(ModuleCode::framework)), &LayerPiece::forward).passes);
    const std::vector<Kernel> head = head_forward(model, shard);
    EXPECT_TRUE(std::ranges::any_of(head, [](const Kernel& kernel) { return kernel.pass == PassClass::softmax; }));
}

}  // namespace
}  // namespace weft
