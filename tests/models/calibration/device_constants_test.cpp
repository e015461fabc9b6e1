#include "models/calibration/device_constants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "models/calibration/kernel_measurement.hpp"

namespace weft {
namespace {

TEST(device_constants, of_every_shipped_device_are_within_their_bounds_and_can_be_set) {
    for (const std::string& name : device_names()) {
        const Device device = load_device(name);
        const std::vector<DeviceConstant> constants = device_constants(device);
        std::set<std::string> names;
        std::vector<double> values;
        for (const DeviceConstant& constant : constants) {
            const double value = constant.value(device);
            EXPECT_TRUE(names.insert(constant.name).second) << constant.name;
            EXPECT_LE(constant.least, value) << name << " " << constant.name;
            EXPECT_GE(constant.most, value) << name << " " << constant.name;
            values.push_back((constant.least + constant.most) / 2);
        }
        const Device changed = with_constants(device, constants, values);
        for (std::size_t i = 0; i < constants.size(); ++i) {
            EXPECT_EQ(constants[i].value(changed), values[i]) << constants[i].name;
        }
        EXPECT_EQ(names.contains("gemm_eighth_plateau"), device.peak_eighth.value > 0.0) << name;
    }
}

TEST(device_constants, kernels_of_attention_have_their_own_plateaus_where_the_file_does) {
    const auto named = [](const std::vector<DeviceConstant>& constants, std::string_view name) {
        return std::ranges::any_of(constants, [&](const DeviceConstant& c) { return c.name == name; });
    };
    const auto h100 = device_constants(load_device("h100")), mi300a = device_constants(load_device("mi300a"));
    for (const char* name : {"attention_cudnn_forward", "attention_cudnn_backward", "attention_triton"}) {
        EXPECT_TRUE(named(h100, name)) << name;
        EXPECT_FALSE(named(mi300a, name)) << name;
    }
}

// What small heads leave is one constant of all but Triton's kernels, whose rate is a share and no more.
TEST(device_constants, of_heads_are_those_of_every_attention) {
    const Device h100 = load_device("h100");
    const std::vector<DeviceConstant> constants = device_constants(h100);
    std::vector<double> values;
    for (const DeviceConstant& one : constants) {
        values.push_back(one.name == "attention_head_half" ? 77.0 : one.value(h100));
        if (one.name == "attention_triton") {
            EXPECT_EQ(one.most, 1.0);
        }
        if (one.name == "attention_cudnn_forward") {
            EXPECT_EQ(one.most, 2.0);
        }
    }
    const Device changed = with_constants(h100, constants, values);
    for (const AttentionCurve& curve : {changed.attention, changed.attention_cudnn, changed.attention_eighth}) {
        EXPECT_EQ(curve.head_half, 77.0);
    }
    EXPECT_EQ(changed.attention_triton.head_half, 0.0);
}

TEST(device_constants, entries_of_lists_have_a_key_and_a_number) {
    Device device = load_device("a100-80");
    const auto constants = device_constants(device);
    EXPECT_EQ(constants.front().key(), "gemm_plateau");
    EXPECT_EQ(constants.front().entry(), -1);
    EXPECT_EQ(constants.back().key(), "gemm_tiles");
    EXPECT_EQ(constants.back().entry(), static_cast<int>(device.gemm.tiles.size()) - 1);
    EXPECT_TRUE(constants.back().is_asked_for);
}

TEST(kernel_measurement, a_gemm_has_the_flops_and_bytes_of_its_operands) {
    const Kernel half = measured_gemm(64, 32, 16, 3, Precision::bf16);
    EXPECT_EQ(half.flops.value, 2.0 * 64 * 32 * 16 * 3);
    EXPECT_EQ(half.bytes.value, 3.0 * 2 * (64 * 16 + 32 * 16 + 64 * 32));
    EXPECT_EQ(measured_gemm(64, 32, 16, 3, Precision::fp8).bytes.value, 3.0 * (64 * 16 + 32 * 16 + 2 * 64 * 32));
}

// The kernels of tables are those of layers: measured once, used there.
TEST(kernel_measurement, attention_is_that_of_a_layer) {
    Transformer model;
    model.layers = 1;
    model.hidden = 1024;
    model.heads = model.kv_heads = 8;
    model.head_size = 128;
    model.ffn_hidden = 4096;
    model.vocabulary = 1000;
    const Shard shard{.micro_batch = 2, .sequence = 512};
    for (const LayerPiece& piece : layer_pieces(model, LayerKind::dense, shard)) {
        if (piece.piece != Piece::core) continue;
        const Kernel forward = measured_attention(MeasuredKernel::attention, 512, 128, 16, Precision::bf16);
        const Kernel backward = measured_attention(MeasuredKernel::attention_backward, 512, 128, 16, Precision::bf16);
        const Device device = load_device("a100-80");
        EXPECT_DOUBLE_EQ(kernel_time(device, Precision::bf16, forward).value,
                         kernel_time(device, Precision::bf16, piece.forward.front()).value);
        EXPECT_DOUBLE_EQ(kernel_time(device, Precision::bf16, backward).value,
                         kernel_time(device, Precision::bf16, piece.input_backward.front()).value);
    }
}

TEST(kernel_measurement, an_error_is_a_logarithm_and_below_the_half_its_tangent) {
    EXPECT_DOUBLE_EQ(log_error(3, 2), std::log(1.5));
    EXPECT_DOUBLE_EQ(log_error(1, 2), std::log(0.5));
    EXPECT_DOUBLE_EQ(log_error(0, 2), std::log(0.5) - 1);
    EXPECT_NEAR((log_error(0.9, 2) - log_error(1, 2)) / -0.1, (log_error(1.001, 2) - log_error(1, 2)) / 0.001, 1e-2);
}

}  // namespace
}  // namespace weft
