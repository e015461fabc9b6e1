// Multi-head latent attention: kernels and FLOPs against the parameters and the closed form of plain attention.
#include <gtest/gtest.h>

#include "models/transformer/flops.hpp"
#include "models/transformer/kernels.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

Transformer latent_model() {
    Transformer model = testing::plain(2, 64, 4, 128);
    model.latent = {.kv_rank = 16, .q_rank = 24, .nope_size = 8, .rope_size = 4, .value_size = 6};
    model.head_size = 12;
    model.biases = false;
    return model;
}

const LayerPiece& qkv(const std::vector<LayerPiece>& pieces) { return pieces.at(1); }

double gemm_flops(const std::vector<Kernel>& kernels) {
    double sum = 0;
    for (const Kernel& kernel : kernels) sum += kernel.kind == KernelKind::gemm ? kernel.flops.value : 0;
    return sum;
}

// Every element of the matrices 64 x 24, 24 x 48, 64 x (16 + 4) and 16 x 4 (8 + 6) does 2 FLOPs per token, and twice as
// many backward.
TEST(latent_attention, multiplies_by_every_matrix_once) {
    const Transformer model = latent_model();
    const std::uint64_t elements = 64 * 24 + 24 * 48 + 64 * 20 + 16 * 4 * 14;
    EXPECT_EQ(qkv_matrices(model), elements);
    const std::vector<LayerPiece> pieces = layer_pieces(model, LayerKind::dense, {.micro_batch = 2, .sequence = 32});
    EXPECT_EQ(gemm_flops(qkv(pieces).forward), 2.0 * 64 * elements);
    EXPECT_EQ(gemm_flops(qkv(pieces).input_backward) + gemm_flops(qkv(pieces).weight_backward), 4.0 * 64 * elements);
}

// The maps down are whole on every tensor rank, those up are shared by heads, as are the parameters; norms: 24 + 16.
TEST(latent_attention, divides_the_maps_up_over_tensor_ranks) {
    const Transformer model = latent_model();
    const std::uint64_t down = 64 * 24 + 64 * 20, up = 24 * 48 + 16 * 4 * 14, norms = 2 * (24 + 16);
    const Module module = layer_modules(model, LayerKind::dense, {.tensor = 2}).at(1);
    EXPECT_EQ(module.name, "qkv");
    EXPECT_EQ(module_parameters(module), down + up / 2 + norms);
    const std::vector<LayerPiece> pieces =
        layer_pieces(model, LayerKind::dense, {.micro_batch = 2, .sequence = 32, .tensor = 2});
    EXPECT_EQ(gemm_flops(qkv(pieces).forward), 2.0 * 64 * static_cast<double>(down + up / 2));
}

// The scores are products over 12 elements, the weighted sum one over 6: 2 b a s^2 (12 + 6) forward.
TEST(latent_attention, has_scores_and_values_of_their_own_sizes) {
    const Transformer model = latent_model();
    for (const AttentionCore core : {AttentionCore::flash, AttentionCore::unfused}) {
        const std::vector<LayerPiece> pieces =
            layer_pieces(model, LayerKind::dense, {.micro_batch = 2, .sequence = 32, .attention = core});
        double forward = 0, backward = 0;
        for (const Kernel& kernel : pieces.at(2).forward) forward += kernel.flops.value;
        for (const Kernel& kernel : pieces.at(2).input_backward) backward += kernel.flops.value;
        EXPECT_EQ(forward, 2.0 * 2 * 4 * 32 * 32 * (12 + 6));
        EXPECT_EQ(backward, 2 * forward);
    }
}

// Forward and backward FLOPs of the kernels are those of the formula: 6 per matrix element and token, 3 of the scores.
TEST(model_flops, of_latent_attention_are_those_of_its_kernels) {
    const Transformer model = latent_model();
    const Shard shard{.micro_batch = 2, .sequence = 32};
    double sum = 0;
    const auto add = [&](const std::vector<Kernel>& kernels) {
        for (const Kernel& kernel : kernels) sum += kernel.flops.value;
    };
    for (const LayerPiece& piece : layer_pieces(model, LayerKind::dense, shard)) {
        add(piece.forward);
        add(piece.input_backward);
        add(piece.weight_backward);
    }
    sum *= model.layers;
    add(head_forward(model, shard));
    add(head_backward(model, shard));
    EXPECT_DOUBLE_EQ(model_flops(model, 2, 32).value, sum);
}

}  // namespace
}  // namespace weft
