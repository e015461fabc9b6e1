#include "workloads/explain/device_limit.hpp"

#include <array>

namespace weft {
namespace {

void speed_up(AttentionCurve& curve, double factor) {
    curve.forward *= factor;
    curve.backward *= factor;
}

constexpr std::array limits{
    DeviceLimit{"matrix products", "matrix products",
                [](Device& device, double factor) {
                    device.gemm.plateau *= factor;
                    device.gemm_eighth.plateau *= factor;
                }},
    DeviceLimit{"fused attention", "fused attention",
                [](Device& device, double factor) {
                    speed_up(device.attention, factor);
                    speed_up(device.attention_cudnn, factor);
                    speed_up(device.attention_triton, factor);
                }},
    DeviceLimit{"bound by memory", "memory bandwidth",
                [](Device& device, double factor) { device.memory_bandwidth = device.memory_bandwidth * factor; }},
    DeviceLimit{"gaps between kernels", "gaps between kernels",
                [](Device& device, double factor) { device.kernel_launch = device.kernel_launch / factor; }},
    DeviceLimit{"waiting for the host", "host launches",
                [](Device& device, double factor) { device.host_launch = device.host_launch / factor; }},
};

}  // namespace

std::span<const DeviceLimit> device_limits() { return limits; }

}  // namespace weft
