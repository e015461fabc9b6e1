#include "models/device/device.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/check.hpp"

namespace weft {
namespace {

double tile_efficiency(const GemmCurve& curve, const Tile& tile, const Kernel& gemm) {
    const double tiles = gemm.count * std::ceil(gemm.m / tile.m) * std::ceil(gemm.n / tile.n);
    const double waves = std::ceil(tiles / curve.compute_units);
    const double computed = waves * curve.compute_units * tile.m * tile.n;
    return tile.share * gemm.count * gemm.m * gemm.n / computed;
}

double efficiency(const Device& device, const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::gemm:
            return gemm_efficiency(device.gemm, kernel);
        case KernelKind::attention:
            return device.attention_efficiency;
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
    for (const Tile& tile : curve.tiles) best = std::max(best, tile_efficiency(curve, tile, gemm));
    return curve.plateau * best * gemm.k / (gemm.k + curve.k_half);
}

Seconds kernel_time(const Device& device, Precision precision, const Kernel& kernel) {
    Seconds computing;
    if (kernel.flops.value > 0.0) {
        computing = kernel.flops * kernel.executed / (device.peak(precision) * efficiency(device, kernel));
    }
    const Seconds moving = kernel.bytes / (device.memory_bandwidth * device.memory_efficiency);
    return device.kernel_launch + std::max(computing, moving);
}

Seconds kernel_time(const Device& device, Precision precision, std::span<const Kernel> kernels) {
    Seconds sum;
    for (const Kernel& kernel : kernels) sum += kernel_time(device, precision, kernel);
    return sum;
}

Flops total_flops(std::span<const Kernel> kernels) {
    Flops sum;
    for (const Kernel& kernel : kernels) sum += kernel.flops;
    return sum;
}

Seconds optimizer_time(const Device& device, double parameters) {
    if (parameters <= 0.0) return {};
    constexpr Bytes per_parameter = 30_B;
    return device.kernel_launch + parameters * per_parameter / (device.memory_bandwidth * device.memory_efficiency);
}

}  // namespace weft
