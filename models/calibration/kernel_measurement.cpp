#include "models/calibration/kernel_measurement.hpp"

#include <cmath>

#include "sim/base/check.hpp"

namespace weft {

// In 8 bits operands are of one byte and the product of two.
Kernel measured_gemm(double m, double n, double k, double count, Precision precision) {
    const double result = element_bytes(precision), operand = is_narrow(precision) ? 1.0 : result;
    return {.name = "gemm",
            .kind = KernelKind::gemm,
            .m = m,
            .n = n,
            .k = k,
            .count = count,
            .parameters = is_narrow(precision),
            .flops = {2.0 * m * n * k * count},
            .bytes = {count * ((m + n) * k * operand + m * n * result)}};
}

// As in models/transformer/attention_core.cpp: two products forward, five backward where FLOPs count as four, and only
// half of the scores.
Kernel measured_attention(MeasuredKernel kind, double sequence, double head_size, double heads, Precision precision) {
    const bool forward = kind == MeasuredKernel::attention;
    const double moved = 4.0 * sequence * head_size * heads * element_bytes(precision);  // query, key, value and result
    return {.name = "attention",
            .kind = forward ? KernelKind::attention : KernelKind::attention_backward,
            .m = sequence,
            .n = sequence,
            .k = head_size,
            .count = heads,
            .flops = {(forward ? 4.0 : 8.0) * sequence * sequence * head_size * heads},
            .bytes = {forward ? moved : 2.0 * moved},
            .executed = forward ? 0.5 : 0.5 * 5.0 / 4.0};
}

Kernel measured_pass(Bytes moved, PassClass pass) {
    return {.name = "pass", .kind = KernelKind::memory, .pass = pass, .flops = {}, .bytes = moved};
}

double predicted_value(const Device& device, const KernelMeasurement& row) {
    switch (row.kind) {
        case MeasuredKernel::gemm:
        case MeasuredKernel::attention:
        case MeasuredKernel::attention_backward:
        case MeasuredKernel::memory:
        case MeasuredKernel::launch:
            return kernel_time(device, row.precision, row.kernel).value;
        case MeasuredKernel::host:
            return device.host_launch.value / enqueues_of_operation;
        case MeasuredKernel::contended:
            return device.interference;
    }
    throw LogicError("a MeasuredKernel outside its enumerators");
}

double log_error(double predicted, double measured) {
    const double ratio = predicted / measured;
    constexpr double bend = 0.5;
    return ratio >= bend ? std::log(ratio) : std::log(bend) + (ratio - bend) / bend;
}

}  // namespace weft
