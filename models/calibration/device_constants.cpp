#include "models/calibration/device_constants.hpp"

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace weft {
namespace {

constexpr double least_share = 0.01;

DeviceConstant share(std::string name, std::function<double&(Device&)> at) {
    return {.name = std::move(name), .least = least_share, .most = 1.0, .scale = 0.1, .at = std::move(at)};
}

// A rate of attention, of which heads leave a share.
DeviceConstant of_wide_heads(std::string name, std::function<double&(Device&)> at) {
    DeviceConstant constant = share(std::move(name), std::move(at));
    constant.most = 2.0;
    return constant;
}

// At which something reaches half of its plateau: `scale` and up to a hundred times that.
DeviceConstant half(std::string name, double scale, std::function<double&(Device&)> at) {
    return {.name = std::move(name), .least = 0.0, .most = 100.0 * scale, .scale = scale, .at = std::move(at)};
}

DeviceConstant launch(std::string name, std::function<double&(Device&)> at) {
    return {.name = std::move(name),
            .unit = ConstantUnit::seconds,
            .least = 0.0,
            .most = (1000_us).value,
            .scale = (1_us).value,
            .at = std::move(at)};
}

// A device whose file has no plateaus for other kernels has those of `attention` there.
bool has_own(const AttentionCurve& curve, const Device& device) {
    return curve.forward != device.attention.forward || curve.backward != device.attention.backward;
}

void add_attention(const Device& device, std::vector<DeviceConstant>& constants) {
    const auto add = [&](DeviceConstant constant) {
        constant.is_asked_for = true;
        constants.push_back(std::move(constant));
    };
    if (has_own(device.attention_cudnn, device)) {
        add(of_wide_heads("attention_cudnn_forward", [](Device& d) -> double& { return d.attention_cudnn.forward; }));
        add(of_wide_heads("attention_cudnn_backward", [](Device& d) -> double& { return d.attention_cudnn.backward; }));
    }
    if (has_own(device.attention_triton, device)) {
        add(share("attention_triton", [](Device& d) -> double& { return d.attention_triton.forward; }));
    }
}

void add_passes(const Device& device, std::vector<DeviceConstant>& constants) {
    for (std::size_t i = 1; i < pass_classes; ++i) {
        if (device.pass_efficiency[i] <= 0.0) continue;  // it has that of all passes
        constants.push_back(share(std::string(pass_key(static_cast<PassClass>(i))),
                                  [i](Device& d) -> double& { return d.pass_efficiency[i]; }));
    }
}

void add_lists(const Device& device, std::vector<DeviceConstant>& constants) {
    for (std::size_t i = 0; i < device.gemm.alignments.size(); ++i) {
        constants.push_back(share(fmt::format("gemm_alignment[{}]", i),
                                  [i](Device& d) -> double& { return d.gemm.alignments[i].share; }));
    }
    for (std::size_t i = 0; i < device.gemm.tiles.size(); ++i) {
        constants.push_back(
            share(fmt::format("gemm_tiles[{}]", i), [i](Device& d) -> double& { return d.gemm.tiles[i].share; }));
        constants.back().is_asked_for = true;
    }
}

}  // namespace

int DeviceConstant::entry() const {
    const std::size_t bracket = name.find('[');
    return bracket == name.npos ? -1 : std::stoi(name.substr(bracket + 1));
}

std::vector<DeviceConstant> device_constants(const Device& device) {
    std::vector<DeviceConstant> constants{
        share("gemm_plateau", [](Device& d) -> double& { return d.gemm.plateau; }),
        share("memory_efficiency", [](Device& d) -> double& { return d.memory_efficiency; }),
        of_wide_heads("attention_forward", [](Device& d) -> double& { return d.attention.forward; }),
        of_wide_heads("attention_backward", [](Device& d) -> double& { return d.attention.backward; }),
        half("gemm_k_half", 64, [](Device& d) -> double& { return d.gemm.k_half; }),
        half("attention_keys_half", 128, [](Device& d) -> double& { return d.attention.keys_half; }),
        half("attention_keys_half_backward", 128, [](Device& d) -> double& { return d.attention.keys_half_backward; }),
        half("attention_head_half", 16, [](Device& d) -> double& { return d.attention.head_half; }),
        launch("kernel_launch", [](Device& d) -> double& { return d.kernel_launch.value; }),
        launch("host_launch", [](Device& d) -> double& { return d.host_launch.value; })};
    constants.push_back(
        {.name = "interference", .least = 1.0, .most = 10.0, .scale = 0.1, .at = [](Device& d) -> double& {
             return d.interference;
         }});
    constants.push_back(share("sustained_clock", [](Device& d) -> double& { return d.sustained_clock; }));
    constants.back().is_asked_for = true;
    constants.back().most = 2.0;
    if (device.peak_eighth.value > 0.0) {
        constants.push_back(share("gemm_eighth_plateau", [](Device& d) -> double& { return d.gemm_eighth.plateau; }));
        constants.push_back(half("gemm_eighth_k_half", 64, [](Device& d) -> double& { return d.gemm_eighth.k_half; }));
    }
    add_attention(device, constants);
    add_passes(device, constants);
    add_lists(device, constants);
    return constants;
}

// What several curves share in the file, they share here.
Device with_constants(Device device, const std::vector<DeviceConstant>& constants, std::span<const double> values) {
    WEFT_CHECK(values.size() == constants.size(), "one value per constant");
    const bool has_cudnn = has_own(device.attention_cudnn, device),
               has_triton = has_own(device.attention_triton, device),
               shares_keys = device.attention_cudnn.keys_half == device.attention.keys_half;
    for (std::size_t i = 0; i < constants.size(); ++i) constants[i].at(device) = values[i];
    AttentionCurve &cudnn = device.attention_cudnn, &before = device.attention_cudnn_9_13;
    if (!has_cudnn) cudnn = before = device.attention;
    if (shares_keys) {
        cudnn.keys_half = before.keys_half = device.attention.keys_half;
        cudnn.keys_half_backward = before.keys_half_backward = device.attention.keys_half_backward;
    }
    before.forward = cudnn.forward, before.backward = cudnn.backward;
    cudnn.head_half = before.head_half = device.attention_eighth.head_half = device.attention.head_half;
    if (has_triton) {
        device.attention_triton.backward = device.attention_triton.forward;
    } else {
        device.attention_triton = device.attention;
    }
    if (device.peak_eighth.value > 0.0) {
        device.gemm_eighth.tiles = device.gemm.tiles;
        device.gemm_eighth.alignments = device.gemm.alignments;
    }
    return device;
}

}  // namespace weft
