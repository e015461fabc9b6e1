#include "models/device/device.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// Writing and reading a part's sums in fp32, 8 bytes per element of the product, takes as long as so many steps of k:
// 2 FLOPs each at 200 to 250 TFLOP/s of an A100 against its 1.4 to 1.6 TB/s.
constexpr double k_of_partial_sums = 600.0;

double tile_efficiency(const GemmCurve& curve, const Tile& tile, double split, const Kernel& gemm) {
    const double tiles = split * gemm.count * std::ceil(gemm.m / tile.m) * std::ceil(gemm.n / tile.n);
    const double waves = std::ceil(tiles / curve.compute_units);
    const double computed = waves * curve.compute_units * tile.m * tile.n;
    const double k = gemm.k + split * curve.k_half + (split - 1.0) * k_of_partial_sums;
    return tile.share * split * gemm.count * gemm.m * gemm.n / computed * gemm.k / k;
}

// The largest power of two that divides a dimension; a mean, which is no whole number, is of any.
double multiple_of(double dimension) {
    if (dimension < 1.0 || dimension != std::floor(dimension)) return 0x1p11;
    if (dimension >= 0x1p63) return 0x1p11;  // as all numbers that large with 53 bits are
    const auto whole = static_cast<std::uint64_t>(dimension);
    return static_cast<double>(whole & (~whole + 1));
}

double alignment_share(const GemmCurve& curve, const Kernel& gemm) {
    const double multiple = std::min({multiple_of(gemm.m), multiple_of(gemm.n), multiple_of(gemm.k)});
    for (const Alignment& alignment : curve.alignments) {
        const bool concerned = alignment.of == Alignment::Of::all || gemm.count > 1.0;
        if (concerned && multiple <= alignment.multiple) return alignment.share;
    }
    return 1.0;
}

// Larger heads are no faster: 192 and 256 go as 128 does within 4 % forward (cuDNN 9.19 and 9.22 on H200, GB200 and
// GB300; NVIDIA/cudnn-frontend 3929da2e, benchmark/sdpa_benchmark_training/results: llama3.1, dsv3, qwen35).
constexpr double widest_head = 128.0;

double attention_efficiency(const Device& device, const Kernel& core) {
    const AttentionCurve& curve = core.narrow                              ? device.attention_eighth
                                  : core.core == AttentionCore::cudnn      ? device.attention_cudnn
                                  : core.core == AttentionCore::cudnn_9_13 ? device.attention_cudnn_9_13
                                  : core.core == AttentionCore::triton     ? device.attention_triton
                                                                           : device.attention;
    const bool forward = core.kind == KernelKind::attention;
    const double plateau = forward ? curve.forward : curve.backward;
    const double keys_half = forward ? curve.keys_half : curve.keys_half_backward;
    const double head = std::min(core.k, widest_head);
    constexpr double step = 32.0;
    const double filled = core.core == AttentionCore::flash ? core.k / (step * std::ceil(core.k / step)) : 1.0;
    return plateau * core.n / (core.n + keys_half) * head / (head + curve.head_half) * filled;
}

bool is_narrowed(const Kernel& kernel, Precision precision) {
    return is_narrow(precision) && (kernel.kind == KernelKind::gemm ? kernel.parameters : kernel.narrow);
}

double efficiency(const Device& device, Precision precision, const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::gemm:
            return gemm_efficiency(is_narrowed(kernel, precision) ? device.gemm_eighth : device.gemm, kernel);
        case KernelKind::attention:
        case KernelKind::attention_backward:
            return attention_efficiency(device, kernel);
        case KernelKind::memory:
            return 1.0;  // its FLOPs, if any, are hidden behind its bytes
    }
    throw LogicError("a KernelKind outside its enumerators");
}

}  // namespace

double element_bytes(Precision precision) { return precision == Precision::fp32 ? 4.0 : 2.0; }

double gemm_efficiency(const GemmCurve& curve, const Kernel& gemm) {
    WEFT_CHECK(!curve.tiles.empty() && curve.compute_units >= 1, "a gemm curve without tiles or compute units");
    double best = 0.0;
    for (const double split : {1.0, 2.0, 4.0, 8.0}) {
        for (const Tile& tile : curve.tiles) best = std::max(best, tile_efficiency(curve, tile, split, gemm));
    }
    return curve.plateau * alignment_share(curve, gemm) * best;
}

FlopsPerSecond Device::peak(Precision precision) const {
    switch (precision) {
        case Precision::fp32:
            return peak_single;
        case Precision::fp8:
            return peak_eighth;
        case Precision::fp4:
            return peak_quarter;
        case Precision::fp16:
        case Precision::bf16:
            break;
    }
    return peak_half;
}

Seconds kernel_time(const Device& device, Precision precision, const Kernel& kernel) {
    Seconds computing;
    if (kernel.flops.value > 0.0) {
        const bool half = is_narrow(precision) && !is_narrowed(kernel, precision);
        const Precision units = half ? Precision::bf16 : kernel.narrow ? Precision::fp8 : precision;
        const FlopsPerSecond peak = device.peak(units);
        const double reached = device.sustained(units) * efficiency(device, precision, kernel);
        computing = kernel.flops * kernel.executed / (peak * reached);
    }
    const Seconds moving = kernel.bytes / (device.memory_bandwidth * device.efficiency_of(kernel.pass));
    return device.kernel_launch * kernel.launches + std::max(computing, moving) * device.slowdown;
}

Seconds kernel_time(const Device& device, Precision precision, std::span<const Kernel> kernels) {
    return sum_of<Seconds>(kernels, [&](const Kernel& kernel) { return kernel_time(device, precision, kernel); });
}

Flops total_flops(std::span<const Kernel> kernels) { return sum_of<Flops>(kernels, &Kernel::flops); }

double expected_slowdown(const Device& device, std::uint32_t machines) {
    const double some = 1.0 - std::pow(1.0 - device.slow_share, machines);
    return 1.0 + (device.slow_factor - 1.0) * some;
}

Seconds pass_time(const Device& device, Bytes moved, PassClass pass) {
    if (moved.value <= 0.0) return {};
    return kernel_time(device, Precision::bf16, {.pass = pass, .flops = {}, .bytes = moved});
}

}  // namespace weft
