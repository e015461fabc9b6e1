#include "models/transformer/trained.hpp"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "models/device/device.hpp"
#include "models/memory/memory.hpp"
#include "models/transformer/flops.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

using enum AdapterTarget;

Trained adapters(std::uint32_t width, EnumSet<AdapterTarget> targets) {
    return {.frozen = whole_model, .targets = targets, .width = width};
}

Flops flops_of(const std::vector<LayerPiece>& pieces, std::vector<Kernel> LayerPiece::*list) {
    Flops sum;
    for (const LayerPiece& piece : pieces) sum += total_flops(piece.*list);
    return sum;
}

// torchtune prints 4,194,304 for Llama-2 7B (docs, tutorials/lora_finetune: rank 8 beside queries and values), and PEFT
// 3,407,872 for Llama-3 8B with the same settings: 32 layers of 8 (4096 + 4096) and 8 (4096 + 1024).
TEST(trained, adapters_have_the_published_parameters) {
    const Trained queries_and_values = adapters(8, {q_proj, v_proj});
    EXPECT_EQ(trained_parameters(load_transformer("llama2-7b"), queries_and_values), 4194304);
    EXPECT_EQ(trained_parameters(load_transformer("llama3-8b"), queries_and_values), 3407872);
    // PEFT beside all seven maps of Llama-3 8B at rank 16: 41,943,040.
    const Trained all = adapters(16, {q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj});
    EXPECT_EQ(trained_parameters(load_transformer("llama3-8b"), all), 41943040);
    EXPECT_EQ(trained_parameters(load_transformer("llama3-8b"), {}), parameters(load_transformer("llama3-8b")));
}

// A fused map has one A where PyTorch's three have three.
TEST(trained, tensor_ranks_share_adapters) {
    const Transformer model = load_transformer("llama3-8b");
    const Trained fused = adapters(32, {linear_qkv, linear_proj, linear_fc1, linear_fc2});
    const auto held = [&](std::uint32_t tensor) {
        std::uint64_t sum = 0;
        for (const Module& module : layer_modules(model, LayerKind::dense, {.tensor = tensor, .trained = fused})) {
            EXPECT_EQ(module.tensors.size(), module.vector.size());
            EXPECT_EQ(module.tensors.size(), module.rows.size());
            for (std::size_t t = 0; t < module.tensors.size(); ++t) sum += module.frozen[t] ? 0 : module.tensors[t];
        }
        return sum;
    };
    const std::uint64_t whole = 32 * (4096 + 6144 + 4096 + 4096 + 4096 + 28672 + 14336 + 4096);
    EXPECT_EQ(held(1), whole);
    EXPECT_EQ(held(8) * 8, whole);
}

// Per layer and token: forward 2 r (inputs + outputs) more, as much for inputs' gradients and for the adapters' own;
// of the frozen maps nothing but forward and the gradients of inputs.
RC_GTEST_PROP(trained, products_of_adapters_equal_their_closed_form, ()) {
    Transformer model = testing::any_model(1);
    model.biases = false;
    Shard shard = testing::any_shard(1);
    shard.casting = Casting::none;
    const std::vector<LayerPiece> whole = layer_pieces(model, LayerKind::dense, shard);
    shard.trained = adapters(*rc::gen::inRange(1U, 200U), {linear_qkv, o_proj, up_proj, down_proj});
    const std::vector<LayerPiece> adapted = layer_pieces(model, LayerKind::dense, shard);
    const double widths = double(model.hidden + qkv_outputs(model)) + double(context_width(model) + model.hidden) +
                          2.0 * (double(model.hidden) + model.ffn_hidden);
    const double own = 2.0 * shard.micro_batch * shard.sequence / shard.context * shard.trained.width * widths;
    const auto more = [&](std::vector<Kernel> LayerPiece::*list) {
        return (flops_of(adapted, list) - flops_of(whole, list)).value / own;
    };
    RC_ASSERT(std::abs(more(&LayerPiece::forward) - 1.0) < 1e-6);
    RC_ASSERT(std::abs(more(&LayerPiece::input_backward) - 1.0) < 1e-6);
    RC_ASSERT(std::abs(flops_of(adapted, &LayerPiece::weight_backward).value / own - 1.0) < 1e-9);
}

// NeMo prints model FLOPs of LoRA as 4 per parameter and token (673 TFLOP/s at 25,206 tokens/s of Llama-2 7B, 26.7
// GFLOP a token), of which 0.4 % are not those of adapters.
TEST(trained, model_flops_leave_the_gradients_of_frozen_matrices_out) {
    const Transformer model = load_transformer("llama2-7b");
    const double tokens = 4096, scores = 12.0 * 32 * 4096 * 4096;
    const double matrices = model_flops(model, 1, 4096).value / tokens - scores;
    const double lora = model_flops(model, 1, 4096, adapters(32, {linear_qkv})).value / tokens;
    EXPECT_NEAR(lora, 4.0 / 6.0 * matrices + scores + 6.0 * 32 * 32 * (4096 + 3 * 4096), 1.0);
    const double head = model_flops(model, 1, 4096, {.frozen = {ModelPart::head}}).value / tokens;
    EXPECT_NEAR(head, matrices + scores - 2.0 * 4096 * 32000, 1.0);
}

// What a frozen map's own gradient would take is not kept; an adapter keeps its input, and what A makes of it.
TEST(trained, frozen_maps_keep_no_input) {
    const Transformer model = load_transformer("llama2-7b");
    Shard shard{.micro_batch = 1, .sequence = 1024};
    const double element = 2.0 * 1024, all = layer_activations(model, LayerKind::dense, shard, {}).value / element;
    const auto kept = [&](const Trained& trained) {
        shard.trained = trained;
        return layer_activations(model, LayerKind::dense, shard, {}).value / element;
    };
    EXPECT_EQ(all - kept({.frozen = {ModelPart::mlp}}), 4096 + 11008);
    EXPECT_EQ(all - kept({.frozen = {ModelPart::attention}}), 4096);
    EXPECT_EQ(all - kept({.frozen = {ModelPart::norms, ModelPart::embedding}}), 0);
    EXPECT_EQ(all - kept(adapters(16, {linear_qkv})), 4096 + 11008 - 16);
    EXPECT_EQ(kept(adapters(16, {q_proj, v_proj})) - kept(adapters(16, {q_proj})), 16);
}

// Nemotron 3 Nano: 6 layers of attention, 23 of Mamba-2, 23 of experts with a shared one, whose adapters stand beside
// the one map of all of a rank's experts, on every expert rank the same.
TEST(trained, adapters_stand_where_a_layer_has_the_map) {
    const Transformer nano = load_transformer("nemotron-3-nano-30b-a3b");
    const auto own = [&](EnumSet<AdapterTarget> targets) { return trained_parameters(nano, adapters(8, targets)) / 8; };
    EXPECT_EQ(own({linear_qkv}), 6 * (2688 + 36 * 128));
    EXPECT_EQ(own({linear_proj}), 6 * (32 * 128 + 2688));
    EXPECT_EQ(own({in_proj}), 23 * (2688 + 10304));
    EXPECT_EQ(own({out_proj}), 23 * (4096 + 2688));
    EXPECT_EQ(own({linear_fc1}), 23 * (2688 + 1856 + 2688 + 3712));
    EXPECT_EQ(own({linear_fc1}), own({linear_fc2}));
    EXPECT_EQ(own({up_proj}), 23 * (2688 + 3712));
    const Transformer latent = load_transformer("deepseek-v3");
    EXPECT_EQ(trained_parameters(latent, adapters(8, {linear_proj})) / 8, 61 * (128 * 128 + 7168));
}

// Rows that a rank's experts get, of all that it routes.
TEST(trained, adapters_beside_experts_see_their_rows) {
    const Transformer model = load_transformer("mixtral-8x7b");
    Shard shard{.sequence = 1024, .expert = 4};
    const std::vector<LayerPiece> whole = layer_pieces(model, LayerKind::expert, shard);
    shard.trained = adapters(16, {linear_fc1, linear_fc2});
    const std::vector<LayerPiece> adapted = layer_pieces(model, LayerKind::expert, shard);
    const double more = (flops_of(adapted, &LayerPiece::forward) - flops_of(whole, &LayerPiece::forward)).value;
    EXPECT_DOUBLE_EQ(more, 2.0 * 1024 * 2 * 16 * (4096 + 2 * 14336 + 14336 + 4096));
}

TEST(trained, refuses_what_is_not_known_or_trains_nothing) {
    const Transformer llama = load_transformer("llama3-8b");
    const auto why = [](const Transformer& model, const Trained& trained, std::uint32_t tensor = 1) {
        const std::vector<std::string> obstacles = training_obstacles(model, trained, tensor);
        return obstacles.empty() ? std::string() : obstacles.front();
    };
    EXPECT_EQ(why(llama, adapters(16, {q_proj})), "");
    EXPECT_NE(why(llama, adapters(16, {})).find("adapters.targets"), std::string::npos);
    EXPECT_NE(why(llama, adapters(6, {linear_qkv}), 4).find("do not divide"), std::string::npos);
    EXPECT_NE(why(llama, adapters(16, {q_proj, linear_qkv})).find("same map"), std::string::npos);
    EXPECT_NE(why(load_transformer("mixtral-8x7b"), adapters(16, {up_proj})).find("no layer"), std::string::npos);
    EXPECT_EQ(why(load_transformer("mixtral-8x7b"), adapters(16, {q_proj, linear_fc1})), "");
    EXPECT_NE(why(load_transformer("deepseek-v3"), adapters(16, {q_proj})).find("no layer"), std::string::npos);
    EXPECT_NE(why(llama, adapters(16, {in_proj})).find("no layer"), std::string::npos);
    EXPECT_NE(why(llama, {.frozen = whole_model}).find("nothing before the output layer"), std::string::npos);
    EXPECT_EQ(why(llama, {.frozen = {ModelPart::projector}}), "llama3-8b has no projector to freeze");
    // A projector is trained before layers that are all frozen, and gradients pass these.
    EXPECT_EQ(
        why(load_transformer("qwen2.5-vl-7b"), {.frozen = {ModelPart::embedding, ModelPart::attention, ModelPart::mlp,
                                                           ModelPart::norms, ModelPart::head, ModelPart::encoder}}),
        "");
    Transformer tied = llama;
    tied.tied_embeddings = true;
    EXPECT_NE(why(tied, {.frozen = {ModelPart::head}}).find("one matrix"), std::string::npos);
}

}  // namespace
}  // namespace weft
