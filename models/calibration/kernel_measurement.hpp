// Measured times of kernels, and what the model of a device says of each.
#pragma once

#include <cstdint>

#include "models/device/device.hpp"

namespace weft {

// tools/measure/kernels.py tells how each is measured.
enum class MeasuredKernel : std::uint8_t {
    gemm,
    attention,           // fused, causal
    attention_backward,  // of it
    memory,              // element-wise, norm, softmax, optimizer: `bytes` read and written
    launch,              // one of a chain of tiny kernels that the host does not hold up
    host,                // the host's time to start a kernel in a loop: operations_of_enqueue
    contended,           // a gemm beside communication, over the same one alone: a ratio of times
};

struct KernelMeasurement {
    MeasuredKernel kind{};
    Precision precision = Precision::bf16;
    Kernel kernel;     // empty for host and contended
    double value = 0;  // seconds, or of `contended` a ratio
};

// The kernels that tables of sizes speak of. Attention is causal, of `sequence` queries and keys.
Kernel measured_gemm(double m, double n, double k, double count, Precision precision);
Kernel measured_attention(MeasuredKernel kind, double sequence, double head_size, double heads, Precision precision);
Kernel measured_pass(Bytes moved, PassClass pass = PassClass::fused);

// Of the host's operations (Device::host_launch), one costs so many enqueues of a kernel in a loop: 27 us and 7.9 us on
// the hosts of h100, where steps and a loop were measured. Of another host only the loop need be.
inline constexpr double enqueues_of_operation = 27.0 / 7.9;

// What `value` should be.
double predicted_value(const Device& device, const KernelMeasurement& row);

// log(predicted / measured); below half of the measured value its tangent, so that a constant of 0 is no obstacle.
double log_error(double predicted, double measured);

}  // namespace weft
