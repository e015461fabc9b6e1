// Encoders of images before a language model, by hand.
#include "models/transformer/encoder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "models/device/device.hpp"
#include "models/memory/memory.hpp"
#include "models/transformer/flops.hpp"
#include "sim/io/document.hpp"

namespace weft {
namespace {

Transformer model_with(const std::string& encoder) {
    Document document = Document::parse(
        "model.json",
        R"({"layers": 2, "hidden": 256, "heads": 4, "vocabulary": 1024, "biases": false, "encoder": )" + encoder + "}");
    Transformer model = read_transformer(document.root(), "seeing");
    document.check();
    return model;
}

double flops_of(const std::vector<Kernel>& kernels) { return total_flops(kernels).value; }

// Of `sequences` with all their images: 6 FLOPs an element of a matrix and row, 2 of them backward for the input and 2
// for the weights where these are wanted; attention 4 h s per token and layer, as often, and not causal.
double closed_form(const Transformer& model, double sequences, const Trained& trained) {
    const Encoder& encoder = model.encoder;
    const Layer& layer = layer_of(model, layer_kind(model, 0));
    const bool encodes = !trained.frozen.has(ModelPart::encoder), projects = !trained.frozen.has(ModelPart::projector);
    const double h = layer.hidden, s = encoder.tokens, patches = sequences * encoder.images * s,
                 merged = patches / encoder.merge;
    double sum = 0;
    for (std::uint32_t i = 0; i < encoder.layers; ++i) {
        const double share = is_windowed(layer_kind(model, i)) ? window_share(layer.window, s) : 1.0;
        const double mlp = h * layer.ffn_hidden * (layer.gated ? 3.0 : 2.0);
        sum += (encodes ? 6.0 : 2.0) * patches * (4.0 * h * h + mlp + 2.0 * h * s * share);
    }
    sum += (encodes ? 4.0 : 2.0) * patches * encoder.patch * h;  // patches have no gradient
    std::vector<double> widths{h * encoder.merge};
    for (const std::uint32_t width : encoder.projector) widths.push_back(width);
    widths.push_back(model.hidden);
    for (std::size_t m = 0; m + 1 < widths.size(); ++m) {
        const bool hands_on = m > 0 || encodes || encoder.projector_norm != ProjectorNorm::none;
        const double passes = 1.0 + (projects ? 1.0 : 0.0) + ((projects || encodes) && hands_on ? 1.0 : 0.0);
        sum += passes * 2.0 * (1.0 + encoder.deep) * merged * widths[m] * widths[m + 1];
    }
    return sum;
}

// ViT-L/14 of CLIP at 336 pixels: transformers prints 303,507,456 parameters of its vision tower.
TEST(encoder, has_the_published_parameters) {
    const Transformer model = model_with(R"({"layers": 24, "hidden": 1024, "heads": 16, "tokens": 576, "patch": 588,
        "patch_bias": false, "class_tokens": 1, "positions": "learned", "outer_norms": 2, "projector": [256]})");
    Transformer blind = model;
    blind.encoder = {};
    blind.layers = 2;
    const std::uint64_t projector = 1024 * 256 + 256 + 256 * 256 + 256;
    EXPECT_EQ(parameters(model) - parameters(blind), 303507456 + projector);
    EXPECT_EQ(model.own_layers(), 2);
    EXPECT_EQ(layers_by_kind(model, model.layers)[static_cast<std::size_t>(layer_kind(model, 0))], 24);
    EXPECT_NE(layer_kind(model, 23), layer_kind(model, 24));
}

// All kernels of an encoder's layers and ends together are its closed form, whatever of it is trained. Attention is
// computed whole: no half of it is masked.
RC_GTEST_PROP(encoder, products_equal_their_closed_form, ()) {
    const auto heads = *rc::gen::inRange(1, 5), merge = *rc::gen::inRange(1, 4), images = *rc::gen::inRange(1, 4);
    const auto layers = *rc::gen::inRange(1, 4), deep = *rc::gen::inRange(0, layers);
    const bool gated = *rc::gen::arbitrary<bool>(), windows = *rc::gen::arbitrary<bool>();
    Transformer model = model_with(fmt::format(
        R"({{"layers": {}, "hidden": {}, "heads": {}, "ffn_hidden": 100, "gated": {}, "tokens": {}, "patch": 48,
             "merge": {}, "projector": [{}], "projector_norm": "layer_norm", "deep": {}{}}})",
        layers, 32 * heads, heads, gated, 64 * merge, merge, 32 * heads * merge, deep,
        windows ? R"(, "attention_window": {"tokens": 16, "chunked": true, "full_every": 2})" : ""));
    model.encoder.images = static_cast<std::uint32_t>(images);
    EnumSet<ModelPart> frozen;
    if (*rc::gen::arbitrary<bool>()) frozen.add(ModelPart::encoder);
    if (*rc::gen::arbitrary<bool>()) frozen.add(ModelPart::projector);
    const Shard shard{.micro_batch = 3, .sequence = 512, .trained = {.frozen = frozen, .targets = {}}};
    double sum = flops_of(encoder_ends_forward(model, shard)) + flops_of(encoder_ends_backward(model, shard));
    for (std::uint32_t layer = 0; layer < model.encoder.layers; ++layer) {
        const LayerKind kind = layer_kind(model, layer);
        const bool alone = runs_forward_alone(model, kind, shard.trained);
        RC_ASSERT(alone == frozen.has(ModelPart::encoder));
        RC_ASSERT(saved_tensors(model, kind, shard, {}).empty() == alone);
        for (const LayerPiece& piece : layer_pieces(model, kind, shard)) {
            sum += flops_of(piece.forward);
            if (!alone) sum += flops_of(piece.input_backward) + flops_of(piece.weight_backward);
            for (const Kernel& kernel : piece.forward) {
                if (kernel.kind == KernelKind::attention) RC_ASSERT(kernel.executed == 1.0);
            }
        }
    }
    const double expected = closed_form(model, 3, shard.trained);
    RC_ASSERT(std::abs(sum - expected) < 1e-9 * expected);
    RC_ASSERT(std::abs(encoder_flops(model, 3, shard.trained).value - expected) < 1e-9 * expected);
    const Transformer own = of_kind(model, layer_kind(model, model.layers - 1));
    RC_ASSERT(std::abs(model_flops(model, 3, 512, shard.trained).value - expected -
                       model_flops(own, 3, 512, shard.trained).value) < 1e-9 * expected);
}

TEST(encoder, mistakes_are_named) {
    const auto why = [](const std::string& encoder) {
        try {
            model_with(encoder);
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string sizes = R"("layers": 2, "hidden": 64, "heads": 2, "patch": 48)";
    EXPECT_NE(why("{" + sizes + "}").find("tokens"), std::string::npos);
    EXPECT_NE(why("{" + sizes + R"(, "tokens": 9, "merge": 4})").find("9 patches"), std::string::npos);
    EXPECT_NE(why("{" + sizes + R"(, "tokens": 8, "deep": 3})").find("at most 2"), std::string::npos);
    EXPECT_NE(why("{" + sizes + R"(, "tokens": 8, "token": 3})").find("tokens"), std::string::npos);
    EXPECT_EQ(why("{" + sizes + R"(, "tokens": 8})"), "");
}

}  // namespace
}  // namespace weft
