// What the time of a computation scales with: the rates and latencies of the device and its host.
#pragma once

#include <span>
#include <string_view>

#include "models/device/device.hpp"

namespace weft {

// Every term of kernel_time() has one of these as a factor, so that the derivatives of a time by their logarithms add
// up to it (Euler's theorem on homogeneous functions).
struct DeviceLimit {
    std::string_view cause;                           // what computes at this limit
    std::string_view knob;                            // the limit itself
    void (*speed_up)(Device& device, double factor);  // 2: twice as fast
};

std::span<const DeviceLimit> device_limits();

}  // namespace weft
