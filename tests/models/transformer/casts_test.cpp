// Layers in 8 bits: which casts and transposes they add, by hand, and what they never change.
#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "models/device/device.hpp"
#include "models/memory/memory.hpp"
#include "models/transformer/kernel_parts.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

using testing::any_expert_model;
using testing::any_expert_shard;
using testing::plain;

std::vector<Kernel> all(const LayerPiece& piece) {
    std::vector<Kernel> kernels = piece.forward;
    kernels.insert(kernels.end(), piece.input_backward.begin(), piece.input_backward.end());
    kernels.insert(kernels.end(), piece.weight_backward.begin(), piece.weight_backward.end());
    return kernels;
}

// Bytes of casts and transposes of a whole layer, forward and backward.
double moved(const std::vector<LayerPiece>& pieces) {
    double bytes = 0;
    for (const LayerPiece& piece : pieces) {
        for (const Kernel& kernel : all(piece)) {
            const bool added = kernel.name.starts_with("cast") || kernel.name.starts_with("transpose");
            if (added) bytes += kernel.bytes.value;
        }
    }
    return bytes;
}

// GPT, tokens n, hidden h, one rank. Cast (3 bytes per element): the inputs of the projection (h) and of the MLP's
// second map (4h), the others coming from norms. Cast and transposed (4): the gradients of four outputs, 3h + h + 4h +
// h. Transposed (2): four inputs, h + h + h + 4h.
TEST(casts, of_a_layer_on_one_rank) {
    Shard shard{.micro_batch = 2, .sequence = 16, .casting = Casting::delayed};
    const double n = 32, h = 64;
    EXPECT_DOUBLE_EQ(moved(layer_pieces(plain(2, 64, 4, 100), LayerKind::dense, shard)),
                     n * h * (3 * 5 + 4 * 9 + 2 * 7));
}

// On 4 ranks with sequence parallelism: outputs and inputs between a column- and a row-parallel map are a quarter; the
// gradients of the two row-parallel outputs are cast in shares (3 bytes of h / 4) and transposed whole (2 bytes of h).
TEST(casts, of_a_layer_under_sequence_parallelism) {
    const Shard shard{.micro_batch = 2,
                      .sequence = 16,
                      .tensor = 4,
                      .sequence_parallel = SequenceParallel::on,
                      .casting = Casting::delayed};
    const double n = 32, h = 64;
    const double forward = 3 * 5 / 4.0, columns = 4 * (3 + 4) / 4.0, rows = 2 * (3 / 4.0 + 2);
    const double inputs = 2 * (1 + 1 / 4.0 + 1 + 4 / 4.0);
    EXPECT_DOUBLE_EQ(moved(layer_pieces(plain(2, 64, 4, 100), LayerKind::dense, shard)),
                     n * h * (forward + columns + rows + inputs));
}

// The same layer by other recipes, q bytes per narrow element. Two inputs (h each) come from norms, two (h + 4h) do
// not, and the gradients of four outputs are 9h. tensorwise: read twice, or once after a norm whose kernel takes the
// maximum; transposed later. By blocks: read once, written in both forms at once. nvfp4: by blocks, and read twice.
TEST(casts, of_a_layer_by_each_recipe) {
    Shard shard{.micro_batch = 2, .sequence = 16};
    const double n = 32, h = 64;
    const auto of = [&](Casting casting) {
        shard.casting = casting;
        return moved(layer_pieces(plain(2, 64, 4, 100), LayerKind::dense, shard)) / (n * h);
    };
    EXPECT_DOUBLE_EQ(of(Casting::tensorwise), (2 + 1) * 2 + (4 + 1) * 5 + (4 + 2) * 9 + 2 * 7);
    for (const auto& [casting, read, q] :
         {std::tuple{Casting::blockwise, 2.0, 1 + 4 / 128.0}, std::tuple{Casting::mxfp8, 2.0, 1 + 1 / 32.0},
          std::tuple{Casting::nvfp4, 4.0, 0.5 + 1 / 16.0}}) {
        EXPECT_DOUBLE_EQ(of(casting), (read + 2 * q) * (2 + 5 + 9));
    }
}

// Operands and what is kept for them are as wide as the recipe says, results of 16 bits.
TEST(casts, narrow_operands_and_what_is_kept_of_them_by_their_scales_too) {
    Shard shard{.micro_batch = 2, .sequence = 16};
    const Transformer model = plain(2, 64, 4, 100);
    const auto kept = [&](Casting casting) {
        shard.casting = casting;
        return layer_activations(model, LayerKind::dense, shard, {}).value;
    };
    // Inputs of four maps: h, h, h and 4h elements of each of 32 tokens.
    const double operands = 32 * 64 * 7;
    for (const auto& [casting, q] :
         {std::pair{Casting::tensorwise, 1.0}, std::pair{Casting::blockwise, 1 + 4 / 128.0},
          std::pair{Casting::mxfp8, 1 + 1 / 32.0}, std::pair{Casting::nvfp4, 0.5 + 1 / 16.0}}) {
        EXPECT_NEAR(kept(casting) - kept(Casting::delayed), operands * (q - 1), 1e-9);
        shard.casting = casting;
        for (const LayerPiece& piece : layer_pieces(model, LayerKind::dense, shard)) {
            for (const Kernel& gemm : all(piece)) {
                if (!gemm.parameters) continue;
                EXPECT_DOUBLE_EQ(gemm.bytes.value, (gemm.m + gemm.n) * gemm.k * q + gemm.m * gemm.n * 2);
            }
        }
    }
}

TEST(casts, precede_their_products) {
    const Shard shard{.micro_batch = 1, .sequence = 16, .casting = Casting::delayed};
    for (const LayerPiece& piece : layer_pieces(plain(1, 64, 4, 100), LayerKind::dense, shard)) {
        for (const auto* kernels : {&piece.forward, &piece.input_backward, &piece.weight_backward}) {
            for (std::size_t i = 0; i + 1 < kernels->size(); ++i) {
                if (!(*kernels)[i].name.starts_with("cast")) continue;
                EXPECT_TRUE((*kernels)[i + 1].parameters) << (*kernels)[i].name;
            }
        }
    }
}

// Every other kernel, and every FLOP, is as without; products write as much and read half.
TEST(casts, change_nothing_else) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = testing::any_tensor();
        const Transformer model = any_expert_model(t, 2);
        Shard shard = any_expert_shard(t, 2);
        shard.element_bytes = 2.0;
        for (const LayerKind kind : {LayerKind::dense, LayerKind::expert}) {
            shard.casting = Casting::none;
            const std::vector<LayerPiece> wide = layer_pieces(model, kind, shard);
            shard.casting = Casting::delayed;
            const std::vector<LayerPiece> narrow = layer_pieces(model, kind, shard);
            RC_ASSERT(wide.size() == narrow.size());
            for (std::size_t i = 0; i < wide.size(); ++i) {
                const std::vector<Kernel> before = all(wide[i]);
                std::vector<Kernel> after = all(narrow[i]);
                std::erase_if(after, [](const Kernel& kernel) {
                    return kernel.name.starts_with("cast") || kernel.name.starts_with("transpose");
                });
                RC_ASSERT(before.size() == after.size());
                for (std::size_t k = 0; k < before.size(); ++k) {
                    RC_ASSERT(before[k].name == after[k].name);
                    RC_ASSERT(before[k].flops.value == after[k].flops.value);
                    RC_ASSERT(after[k].bytes <= before[k].bytes);
                    RC_ASSERT(before[k].parameters || after[k].bytes == before[k].bytes);
                }
            }
        }
    }));
}

Seconds layer_time(const Device& device, Precision precision, Shard shard, const Transformer& model) {
    shard.casting = precision == Precision::fp8 ? Casting::delayed : Casting::none;
    Seconds sum;
    for (const LayerPiece& piece : layer_pieces(model, LayerKind::dense, shard)) {
        sum += kernel_time(device, precision, all(piece));
    }
    return sum;
}

// Llama 3 70B's layer on four ranks of an H100: faster in fp8, but by less than the peaks' ratio.
TEST(casts, leave_large_layers_faster_in_fp8_by_less_than_the_peaks_are) {
    Transformer model = plain(80, 8192, 64, 128256);
    model.gated = true;
    const Shard shard{.micro_batch = 1, .sequence = 8192, .tensor = 4, .sequence_parallel = SequenceParallel::on};
    for (const char* name : {"h100", "h200", "gh200", "gb200"}) {
        const Device device = load_device(name);
        const double ratio =
            layer_time(device, Precision::bf16, shard, model) / layer_time(device, Precision::fp8, shard, model);
        EXPECT_GT(ratio, 1.0) << name;
        EXPECT_LT(ratio, device.peak_eighth / device.peak_half) << name;
    }
}

TEST(casts, never_take_products_above_the_peak) {
    EXPECT_TRUE(rc::check([] {
        const Device device = load_device("h100");
        Kernel gemm;
        gemm.kind = KernelKind::gemm, gemm.parameters = true;
        gemm.m = *rc::gen::inRange(1, 100000), gemm.n = *rc::gen::inRange(1, 100000);
        gemm.k = *rc::gen::inRange(1, 100000);
        gemm.flops = {2 * gemm.m * gemm.n * gemm.k};
        const Seconds time = kernel_time(device, Precision::fp8, gemm);
        RC_ASSERT(gemm.flops / time < device.peak_eighth);
        const Device blackwell = load_device("b200");
        RC_ASSERT(gemm.flops / kernel_time(blackwell, Precision::fp4, gemm) < blackwell.peak_quarter);
        gemm.parameters = false;  // attention and logits stay in bf16
        RC_ASSERT(gemm.flops / kernel_time(device, Precision::fp8, gemm) < device.peak_half);
    }));
}

// Tokens n, hidden h: queries, keys and values are 3 n h elements, attention's output is n h. Read in 16 bits (twice
// for a maximum of all) and written once, or in both orders; by delayed scaling the output and three gradients come
// back.
TEST(casts, of_what_attention_takes) {
    const double n = 32, h = 64, block = 1 + 1 / 32.0;
    const std::vector<std::pair<Casting, double>> cases{{Casting::mxfp8, 4 * (2 + 2 * block)},
                                                        {Casting::tensorwise, 4 * (4 + 1)},
                                                        {Casting::nvfp4, 4 * (4 + 1)},
                                                        {Casting::delayed, 4 * (2 + 1) + 4 * (1 + 2)}};
    for (const auto& [casting, bytes] : cases) {
        Shard shard{.micro_batch = 2, .sequence = 16, .casting = casting, .narrow_attention = true};
        LayerPiece core = core_piece(plain(2, 64, 4, 100), LayerKind::dense, shard);
        EXPECT_DOUBLE_EQ(moved({core}), n * h * bytes);
        shard.narrow_attention = false;
        EXPECT_EQ(moved({core_piece(plain(2, 64, 4, 100), LayerKind::dense, shard)}), 0.0);
    }
}

// Attention keeps what it takes: in both orders of blocks of 32 a little more than in 16 bits, by one scale half.
TEST(casts, of_what_attention_takes_are_what_it_keeps) {
    Shard shard{.micro_batch = 2, .sequence = 16, .casting = Casting::mxfp8};
    const auto kept = [&](Casting casting, bool narrow) {
        shard.casting = casting;
        shard.narrow_attention = narrow;
        double bytes = 0;
        for (const SavedTensor& tensor : saved_tensors(plain(2, 64, 4, 100), LayerKind::dense, shard, {})) {
            if (tensor.name == "queries, keys and values") bytes += tensor.bytes.value;
        }
        return bytes / (32 * 64 * 3);
    };
    EXPECT_DOUBLE_EQ(kept(Casting::mxfp8, false), 2.0);
    EXPECT_DOUBLE_EQ(kept(Casting::mxfp8, true), 2.0 * (1 + 1 / 32.0));
    EXPECT_DOUBLE_EQ(kept(Casting::tensorwise, true), 1.0);
}

}  // namespace
}  // namespace weft
