#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "models/transformer/kernels.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

using testing::any_expert_model;
using testing::any_expert_shard;
using testing::plain;

bool close(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

double flops(const std::vector<Kernel>& kernels) {
    double sum = 0;
    for (const Kernel& kernel : kernels) sum += kernel.flops.value;
    return sum;
}

double forward_flops(const std::vector<LayerPiece>& pieces) {
    double sum = 0;
    for (const LayerPiece& piece : pieces) sum += flops(piece.forward);
    return sum;
}

const LayerPiece& find(const std::vector<LayerPiece>& pieces, Piece which) {
    return *std::ranges::find(pieces, which, &LayerPiece::piece);
}

TEST(layer_pieces, name_the_modules_in_registration_order) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = testing::any_tensor();
        const Transformer model = any_expert_model(t, 2);
        const Shard shard = any_expert_shard(t, 2);
        for (const LayerKind kind : {LayerKind::dense, LayerKind::expert}) {
            std::vector<std::string_view> owned, registered;
            for (const LayerPiece& piece : layer_pieces(model, kind, shard)) {
                if (!piece.module.empty()) owned.push_back(piece.module);
            }
            const LayerSplit split{.tensor = t, .expert = 2, .expert_tensor = shard.expert_tensor};
            for (const Module& module : layer_modules(model, kind, split)) registered.push_back(module.name);
            RC_ASSERT(owned == registered);
        }
    }));
}

// Every matrix does one product forward, one for its input's and one for its own gradient.
TEST(layer_pieces, split_backward_into_halves_as_large_as_forward) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = testing::any_tensor();
        const Transformer model = any_expert_model(t, 2);
        for (const LayerPiece& piece : layer_pieces(model, LayerKind::expert, any_expert_shard(t, 2))) {
            const double once = flops(piece.forward);
            const bool core = piece.piece == Piece::core;  // its operands are all activations
            RC_ASSERT(close(flops(piece.weight_backward), core ? 0 : once));
            RC_ASSERT(close(flops(piece.input_backward), core ? 2 * once : once));
        }
    }));
}

// Llama 4: no positions, and no norm of queries and keys, where attention is full.
TEST(layer_pieces, layers_without_positions_rotate_nothing) {
    Transformer model = load_transformer("llama4-scout");
    const auto passes = [&](LayerKind kind) {
        const std::vector<LayerPiece> pieces = layer_pieces(model, kind, {.sequence = 1024});
        const LayerPiece& qkv = find(pieces, Piece::qkv);
        return std::pair{qkv.forward.size(), qkv.input_backward.size()};
    };
    EXPECT_EQ(passes(LayerKind::windowed_expert), std::pair(std::size_t{3}, std::size_t{3}));
    EXPECT_EQ(passes(LayerKind::expert), std::pair(std::size_t{1}, std::size_t{1})) << "the products alone";
    model.window.full_rotary = true;
    EXPECT_EQ(passes(LayerKind::expert), passes(LayerKind::windowed_expert));
}

// Over all tensor and context ranks, experts do top_k x 2h(f_in + f) FLOPs for each of b s tokens, wherever they are.
TEST(layer_pieces, experts_do_the_work_of_every_token_once_per_choice) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = testing::any_tensor(), ep = *rc::gen::element(1U, 2U, 8U);
        const Transformer model = any_expert_model(t, ep);
        Shard shard = any_expert_shard(t, ep);
        const double tokens = 1.0 * shard.micro_batch * shard.sequence;
        const double widths = model.experts.ffn_hidden * (model.gated ? 3.0 : 2.0);
        const double expected = tokens * model.experts.top_k * 2.0 * model.hidden * widths;
        const double share = flops(find(layer_pieces(model, LayerKind::expert, shard), Piece::experts).forward);
        RC_ASSERT(close(share * t * shard.context, expected));
        shard.imbalance = 1.5;
        RC_ASSERT(
            close(flops(find(layer_pieces(model, LayerKind::expert, shard), Piece::experts).forward), 1.5 * share));
    }));
}

TEST(layer_pieces, of_context_ranks_together_have_the_flops_of_one) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = testing::any_tensor();
        const Transformer model = any_expert_model(t, 2);
        Shard shard = any_expert_shard(t, 2);
        for (const LayerKind kind : {LayerKind::dense, LayerKind::expert}) {
            const double share = forward_flops(layer_pieces(model, kind, shard)) * shard.context;
            Shard whole = shard;
            whole.context = 1;
            RC_ASSERT(close(share, forward_flops(layer_pieces(model, kind, whole))));
        }
    }));
}

// 64 tokens, 4 experts, top 2, two expert ranks: C = ceil(1.25 x 2 x 64 / 4) = 40 rows from each rank; and at least 4.
TEST(layer_pieces, pad_experts_to_a_fixed_capacity) {
    Transformer model = plain(1, 64, 4, 128);
    model.experts = {.count = 4, .top_k = 2, .ffn_hidden = 32, .shared_ffn_hidden = 32};
    Shard shard{.micro_batch = 2, .sequence = 32, .expert = 2, .capacity_factor = 1.25};
    const auto up = [&] {
        const LayerPiece experts = find(layer_pieces(model, LayerKind::expert, shard), Piece::experts);
        return *std::ranges::find(experts.forward, "experts up", &Kernel::name);
    };
    EXPECT_EQ(up().m, 2 * 40);
    EXPECT_EQ(up().count, 2);
    EXPECT_EQ(up().n, 32);
    shard.sequence = 1;
    EXPECT_EQ(up().m, 2 * 4);
    shard.capacity_factor = 0;  // 2 tokens x 2 choices x 2 ranks over 4 experts
    EXPECT_EQ(up().m, 2);
}

// 64 tokens, 4 experts, top 2, two expert ranks: a token has experts on 2 (1 - 1/6) ranks. 128 rows are computed.
TEST(layer_pieces, copy_rows_where_the_dispatcher_leaves_it) {
    Transformer model = plain(1, 64, 4, 128);
    model.experts = {.count = 4, .top_k = 2, .ffn_hidden = 32, .shared_ffn_hidden = 32};
    Shard shard{.micro_batch = 2, .sequence = 32, .expert = 2};
    const auto bytes = [&](Piece piece, std::string_view name) {
        const LayerPiece found = find(layer_pieces(model, LayerKind::expert, shard), piece);
        const auto kernel = std::ranges::find(found.forward, name, &Kernel::name);
        return kernel == found.forward.end() ? 0.0 : kernel->bytes.value;
    };
    const double row = 64 * 2;
    EXPECT_EQ(bytes(Piece::permute, "permute"), 2 * 128 * row);  // before they leave
    EXPECT_EQ(bytes(Piece::experts, "expert sort"), 2 * 128 * row);
    shard.dispatch = Dispatch::deepep;
    EXPECT_EQ(bytes(Piece::permute, "permute"), 0);
    EXPECT_NEAR(bytes(Piece::experts, "permute"), (128 + 64 * 5.0 / 3) * row, 1e-6);  // where they arrive
    EXPECT_NEAR(bytes(Piece::experts, "unpermute"), (128 + 64 * 5.0 / 3) * row, 1e-6);
    shard.dispatch = Dispatch::all_gather;
    EXPECT_EQ(bytes(Piece::experts, "permute"), 2 * 128 * row);
    EXPECT_EQ(bytes(Piece::experts, "unpermute"), (128 + 2 * 64) * row);  // sums for the tokens of both ranks
}

// 256 rows of 64, gated functions of 32, in MXFP8: the operation makes activations and casts of its second product.
// What it keeps of a row is one form of both inputs and what the function takes, read and written both ways.
TEST(layer_pieces, of_experts_as_one_operation_keep_what_is_stashed) {
    Transformer model = plain(1, 64, 4, 128);
    model.gated = true;
    model.experts = {.count = 4, .top_k = 4, .ffn_hidden = 32};
    Shard shard{.micro_batch = 2, .sequence = 32, .casting = Casting::mxfp8, .dispatch = Dispatch::hybridep};
    const auto kernels = [&](bool backward) {
        std::map<std::string, double> bytes;
        const LayerPiece experts = find(layer_pieces(model, LayerKind::expert, shard), Piece::experts);
        for (const Kernel& kernel : backward ? experts.input_backward : experts.forward) {
            bytes[std::string(kernel.name)] += kernel.bytes.value;
        }
        return bytes;
    };
    const auto forward = kernels(false), backward = kernels(true);
    shard.fuses_experts = shard.stashes_experts = true;
    auto fused = kernels(false), fused_backward = kernels(true);
    const double byte = 1 + 1 / 32.0, rows = 256;
    EXPECT_DOUBLE_EQ(fused["stash for backward"], 2 * rows * ((64 + 32) * byte + 64 * 2));
    EXPECT_EQ(fused_backward["take from stash"], fused["stash for backward"]);
    EXPECT_DOUBLE_EQ(forward.at("cast input") - fused["cast input"], rows * 32 * (2 + 2 * byte));
    EXPECT_DOUBLE_EQ(backward.at("cast and transpose gradient") - fused_backward["cast and transpose gradient"],
                     rows * 64 * (2 + 2 * byte));
    EXPECT_EQ(fused.size(), forward.size());  // the stash for the activation
    EXPECT_EQ(fused_backward.size(), backward.size());
}

TEST(layer_pieces, context_ranks_read_all_keys_and_values) {
    const Transformer model = plain(1, 64, 4, 128);
    const Shard shard{.micro_batch = 2, .sequence = 32, .attention = AttentionCore::flash, .context = 4};
    const Kernel core = find(layer_pieces(model, LayerKind::dense, shard), Piece::core).forward.front();
    EXPECT_EQ(core.bytes.value, 2.0 * (2 * 16 * 64 + 2 * 64 * 64));  // queries and output of 16 tokens, K and V of 64
}

}  // namespace
}  // namespace weft
