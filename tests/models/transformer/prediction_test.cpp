#include "models/transformer/prediction.hpp"

#include <gtest/gtest.h>

#include "models/transformer/flops.hpp"
#include "tests/models/shapes.hpp"

namespace weft {
namespace {

// README_WEIGHTS.md of the released DeepSeek-V3: 671B of the main model; 11.5B unique parameters of the prediction
// module, which brings copies of the embedding and of the output head (0.9B each) to the files, together 685B.
TEST(prediction, of_deepseek_has_the_published_parameters) {
    const Transformer with = load_transformer("deepseek-v3-mtp"), without = load_transformer("deepseek-v3");
    const auto module = static_cast<double>(parameters(with) - parameters(without));
    EXPECT_EQ(parameters(with) - parameters(without), prediction_parameters(with, {}));
    EXPECT_NEAR(module, 11.5e9, 0.15e9);
    const double copies = 2.0 * 129280 * 7168;
    EXPECT_NEAR(static_cast<double>(parameters(with)) + copies, 685e9, 0.6e9);
    // 2.4B active with embedding and head, of 0.9B each.
    EXPECT_NEAR(static_cast<double>(active_parameters(with) - active_parameters(without)) + copies, 2.4e9, 0.15e9);
}

// Two norms, the map of 2 h to h, the layer, a norm.
TEST(prediction, module_is_a_layer_with_three_norms_and_a_map) {
    Transformer model = testing::plain(4, 64, 4, 512);
    model.mtp_layers = 2;
    const std::uint64_t layer = layer_parameters(model, LayerKind::dense, {});
    EXPECT_EQ(prediction_parameters(model, {}), layer + 3 * 2 * 64 + 2 * 64 * 64);
    EXPECT_EQ(prediction_parameters(model, {.tensor = 2}),
              layer_parameters(model, LayerKind::dense, {.tensor = 2}) + 3 * 2 * 64 + 64 * 64);
    Transformer plain = model;
    plain.mtp_layers = 0;
    EXPECT_EQ(parameters(model) - parameters(plain), 2 * prediction_parameters(model, {}));
}

// Each module: a layer, 6 x 2 h^2 of the map and 6 h V of its logits per token.
TEST(prediction, flops_are_those_of_a_layer_a_map_and_logits) {
    Transformer model = testing::plain(4, 64, 4, 512), plain = model, more = model;
    model.mtp_layers = 1;
    more.layers = 5;
    const double tokens = 3 * 128, v = static_cast<double>(padded_vocabulary(model, 1));
    const auto flops = [](const Transformer& of) { return model_flops(of, 3, 128).value; };
    EXPECT_NEAR(flops(model), flops(more) + 6 * tokens * (2.0 * 64 * 64 + 64 * v), 1.0);
    Flops forward;
    for (const Kernel& kernel : prediction_kernels(model, {.micro_batch = 3, .sequence = 128}).forward)
        forward += kernel.flops;
    EXPECT_EQ(forward.value, 2 * tokens * 2 * 64 * 64);
}

TEST(prediction, layer_is_as_the_last) {
    Transformer model = load_transformer("llama4-maverick");
    model.mtp_layers = 3;
    EXPECT_EQ(layer_kind(model, 48), layer_kind(model, 47));
    EXPECT_EQ(layer_kind(model, 50), layer_kind(model, 47));
    EXPECT_NE(layer_kind(model, 46), layer_kind(model, 47));
}

}  // namespace
}  // namespace weft
