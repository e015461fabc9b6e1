// Terms of a layer that only some models have: against counts tensor by tensor and pair by pair.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>

#include "models/memory/memory.hpp"
#include "models/transformer/flops.hpp"
#include "models/transformer/kernels.hpp"
#include "tests/models/memory/dense_layer_memory.hpp"
#include "tests/models/shapes.hpp"
#include "tests/refusal.hpp"

namespace weft {
namespace {

using testing::layer_activations;

using testing::plain;

// Without biases and with RMS norms, unless the keys say otherwise.
Transformer read(const std::string& keys) {
    std::string text = R"({"layers": 4, "hidden": 64, "heads": 8, "kv_heads": 2, "ffn_hidden": 96,
                           "vocabulary": 1000, "vocabulary_multiple": 1, )";
    if (keys.find("\"biases\"") == std::string::npos) text += R"("biases": false, )";
    if (keys.find("\"norm\"") == std::string::npos) text += R"("norm": "rms_norm", )";
    Document document = Document::parse("model.json", text + keys + "}");
    Transformer model = read_transformer(document.root(), "model");
    document.check();
    return model;
}

std::string refusal(const std::string& keys) {
    return test::refusal_of([&] { read(keys); });
}

// What the keys add to the plain model of read(): 4 layers of 2 norms, 64 -> 96 wide queries, keys and values.
std::int64_t added(const std::string& keys) {
    return static_cast<std::int64_t>(parameters(read(keys))) -
           static_cast<std::int64_t>(parameters(read(R"("name": "")")));
}

constexpr std::int64_t layers = 4, h = 64, head = 8, maps = 64 + 2 * 16, ffn = 96, vocabulary = 1000;

TEST(model_terms, plain_is_matrices_and_norms) {
    EXPECT_EQ(parameters(read(R"("name": "")")),
              2 * vocabulary * h + h + layers * (h * maps + h * h + 2 * h * ffn + 2 * h));
}

TEST(model_terms, biases_are_those_of_the_named_maps) {
    EXPECT_EQ(added(R"("biases": true)"), layers * (maps + h + ffn + h));
    EXPECT_EQ(added(R"("biases": [])"), 0);
    EXPECT_EQ(added(R"("biases": ["qkv"])"), layers * maps);
    EXPECT_EQ(added(R"("biases": ["projection"])"), layers * h);
    EXPECT_EQ(added(R"("biases": ["mlp"])"), layers * (ffn + h));
    EXPECT_EQ(added(R"("biases": ["head"])"), vocabulary);
    EXPECT_EQ(added(R"("biases": ["experts", "router"])"), 0);  // it has none
    const std::string experts = R"("experts": {"count": 6, "top_k": 2, "ffn_hidden": 32, "shared": 2})";
    EXPECT_EQ(added(experts + R"(, "biases": ["experts"])") - added(experts), layers * (6 * (32 + h) + (2 * 32 + h)));
    EXPECT_EQ(added(experts + R"(, "biases": ["router"])") - added(experts), layers * 6);
    EXPECT_THAT(refusal(R"("biases": ["qvk"])"), ::testing::HasSubstr("got \"qvk\""));
    EXPECT_THAT(refusal(R"("biases": "qkv")"), ::testing::HasSubstr("biases"));
    EXPECT_THAT(refusal(R"("biases": ["head"], "tied_embeddings": true)"), ::testing::HasSubstr("tied_embeddings"));
}

TEST(model_terms, norms_are_where_they_are_placed) {
    EXPECT_EQ(added(R"("norm_placement": "post")"), 0);
    EXPECT_EQ(added(R"("norm_placement": "sandwich")"), layers * 2 * h);
    EXPECT_EQ(added(R"("norm_placement": "shared", "parallel_residual": true)"), -layers * h);
    EXPECT_EQ(added(R"("embedding_norm": true)"), h);
    EXPECT_EQ(added(R"("norm": "layer_norm")"), (2 * layers + 1) * h);
    EXPECT_EQ(added(R"("norm": "layer_norm", "norm_bias": false)"), 0);
    EXPECT_EQ(added(R"("norm": "layer_norm", "norm_weight": false)"), -(2 * layers + 1) * h);
    EXPECT_THAT(refusal(R"("norm_placement": "shared")"), ::testing::HasSubstr("parallel_residual"));
    EXPECT_THAT(refusal(R"("norm_placement": "sandwich", "parallel_residual": true)"),
                ::testing::HasSubstr("pre or shared"));
    EXPECT_THAT(refusal(R"("norm_bias": true)"), ::testing::HasSubstr("rms_norm has no bias"));
}

TEST(model_terms, queries_and_keys_are_normed_per_head_or_whole) {
    EXPECT_EQ(added(R"("query_key_norm": true)"), layers * 2 * head);
    EXPECT_EQ(added(R"("query_key_norm": "per_head")"), layers * 2 * head);
    EXPECT_EQ(added(R"("query_key_norm": "whole")"), layers * (64 + 16));
    EXPECT_EQ(added(R"("query_key_norm": "unweighted")"), 0);
    EXPECT_EQ(added(R"("query_key_norm": "per_head", "norm": "layer_norm")") - added(R"("norm": "layer_norm")"),
              layers * 4 * head);
    EXPECT_EQ(added(R"("attention_sinks": true)"), layers * 8);
}

TEST(model_terms, a_gate_of_the_shared_experts_is_a_vector_that_every_token_meets) {
    const std::string experts = R"("count": 6, "top_k": 2, "ffn_hidden": 32, "shared": 1)";
    const Transformer without = read("\"experts\": {" + experts + "}");
    const Transformer with = read("\"experts\": {" + experts + ", \"shared_gate\": true}");
    EXPECT_EQ(parameters(with) - parameters(without), std::uint64_t{layers * h});
    EXPECT_EQ(active_parameters(with) - active_parameters(without), std::uint64_t{layers * h});
    EXPECT_EQ(model_flops(with, 1, 16).value - model_flops(without, 1, 16).value, 6.0 * 16 * layers * h);
    EXPECT_THAT(refusal(R"("experts": {"count": 6, "shared_gate": true})"), ::testing::HasSubstr("shared_gate"));
}

// Every tensor rank has its share of each matrix, and all of each norm.
TEST(model_terms, are_shared_by_tensor_ranks) {
    const std::string terms = R"("biases": ["qkv", "head"], "query_key_norm": "whole", "attention_sinks": true,
                                 "norm_placement": "sandwich", "embedding_norm": true)";
    const Transformer model = read(terms);
    const std::uint64_t norms = layers * 4 * h + 2 * h;
    EXPECT_EQ(parameters(model, 2), (parameters(model) - norms) / 2 + norms);
}

double pairs_one_by_one(const AttentionWindow& window, std::uint32_t sequence) {
    double pairs = 0;
    for (std::uint32_t query = 0; query < sequence; ++query) {
        for (std::uint32_t key = 0; key <= query; ++key) {
            const bool seen = window.tokens == 0 || (window.chunked ? query / window.tokens == key / window.tokens
                                                                    : query - key < window.tokens);
            pairs += seen ? 1 : 0;
        }
    }
    return pairs;
}

TEST(window_share, is_that_of_the_pairs_one_by_one) {
    EXPECT_TRUE(rc::check([] {
        AttentionWindow window;
        window.tokens = *rc::gen::inRange(0U, 60U);
        window.chunked = testing::any_flag();
        const auto sequence = *rc::gen::inRange(1U, 100U);
        const double share = pairs_one_by_one(window, sequence) / pairs_one_by_one({}, sequence);
        RC_ASSERT(std::abs(window_share(window, sequence) - share) < 1e-12);
    }));
}

Transformer windowed() {
    return read(R"("attention_window": {"tokens": 16, "first_full": 1, "full_every": 3},
                   "experts": {"count": 4, "every": 2})");
}

TEST(attention_window, is_on_all_layers_but_the_named) {
    const Transformer model = windowed();
    std::string kinds;
    for (std::uint32_t layer = 0; layer < 4; ++layer) {
        const LayerKind kind = layer_kind(model, layer);
        kinds += std::string(is_windowed(kind) ? "w" : "f") + (has_experts(kind) ? "e " : "d ");
    }
    EXPECT_EQ(kinds, "fe wd we fd ");
    EXPECT_THAT(refusal(R"("attention_window": {"tokens": 16, "full_every": 1})"), ::testing::HasSubstr("full_every"));
    EXPECT_THAT(refusal(R"("attention_window": {"full_every": 2})"), ::testing::HasSubstr("tokens"));
}

double core_flops(const Transformer& model, LayerKind kind, AttentionCore attention) {
    Flops sum;
    for (const LayerPiece& piece : layer_pieces(model, kind, {.sequence = 128, .attention = attention})) {
        if (piece.piece != Piece::core) continue;
        for (const auto* kernels : {&piece.forward, &piece.input_backward}) {
            for (const Kernel& kernel : *kernels) sum += kernel.flops;
        }
    }
    return sum.value;
}

TEST(attention_window, takes_its_share_of_fused_attention_and_of_the_models_flops) {
    const Transformer model = windowed();
    Transformer full = model;
    full.window = {};
    const double share = window_share(model.window, 128);
    const auto flash = AttentionCore::flash, unfused = AttentionCore::unfused;
    const double whole = core_flops(full, LayerKind::dense, flash);
    EXPECT_EQ(core_flops(model, LayerKind::dense, flash), whole);
    EXPECT_DOUBLE_EQ(core_flops(model, LayerKind::windowed_dense, flash), share * whole);
    EXPECT_EQ(core_flops(model, LayerKind::windowed_dense, unfused), core_flops(full, LayerKind::dense, unfused));
    // Two of the four layers, forward and twice that backward.
    const double counted = model_flops(full, 1, 128).value - model_flops(model, 1, 128).value;
    EXPECT_NEAR(counted, 2 * (1 - share) * whole, 1e-9 * whole);
}

// A window as long as the sequence is none.
TEST(attention_window, as_long_as_the_sequence_changes_nothing) {
    Transformer model = windowed(), full = model;
    full.window = {};
    model.window.tokens = 128;
    EXPECT_EQ(core_flops(model, LayerKind::windowed_dense, AttentionCore::flash),
              core_flops(full, LayerKind::dense, AttentionCore::flash));
    EXPECT_EQ(model_flops(model, 2, 128).value, model_flops(full, 2, 128).value);
}

std::size_t norms_in(const Transformer& model, std::vector<Kernel> LayerPiece::*kernels) {
    std::size_t count = 0;
    for (const LayerPiece& piece : layer_pieces(model, LayerKind::dense, {.sequence = 16})) {
        count += static_cast<std::size_t>(std::ranges::count_if(
            piece.*kernels, [](const Kernel& kernel) { return kernel.name.find(" norm") != std::string_view::npos; }));
    }
    return count;
}

TEST(norm_placement, runs_each_norm_once_forward_and_once_backward) {
    for (const auto& [keys, norms] : {std::pair{R"("name": "")", 2U},
                                      {R"("norm_placement": "post")", 2U},
                                      {R"("norm_placement": "sandwich")", 4U},
                                      {R"("norm_placement": "shared", "parallel_residual": true)", 1U}}) {
        const Transformer model = read(keys);
        EXPECT_EQ(norms_in(model, &LayerPiece::forward), norms) << keys;
        EXPECT_EQ(norms_in(model, &LayerPiece::input_backward), norms) << keys;
    }
}

// Inputs of norms are kept; what attention and MLP share is kept once.
TEST(norm_placement, decides_what_is_kept_for_backward) {
    const auto kept = [](const std::string& keys) {
        return layer_activations(read(keys), {.sequence = 16}, Recompute::none).value;
    };
    const double state = 2.0 * 16 * h, plain = kept(R"("name": "")");
    EXPECT_EQ(kept(R"("norm_placement": "post")"), plain);
    EXPECT_EQ(kept(R"("norm_placement": "sandwich")"), plain + 2 * state);
    EXPECT_EQ(kept(R"("norm_placement": "shared", "parallel_residual": true)"), plain - 2 * state);
}

}  // namespace
}  // namespace weft
