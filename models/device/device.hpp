// An accelerator: what its data sheet says, how much of it kernels reach, and the time of a kernel.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/transformer/kernels.hpp"
#include "sim/base/quantity.hpp"
#include "sim/io/document.hpp"

namespace weft {

enum class Precision : std::uint8_t { fp32, fp16, bf16 };
double element_bytes(Precision precision);

// An output tile of the gemm library. Smaller tiles reuse less of what they load: `share` of the plateau is left.
struct Tile {
    double m = 1, n = 1;
    double share = 1.0;
};

// Efficiency of a gemm, of peak: plateau * share * q * k / (k + k_half), for the tile where that is largest, with
//   q = m n count / (waves * compute_units * tile m * tile n),
//       waves = ceil(count ceil(m / tile m) ceil(n / tile n) / compute_units):
//       every compute unit works on one tile at a time, so ragged edges and a last, partly filled wave are lost;
//   k_half: the inner dimension at which filling and draining the pipeline costs as much as the product itself.
struct GemmCurve {
    double plateau = 1.0;
    double k_half = 0.0;
    double compute_units = 1;
    std::vector<Tile> tiles{Tile{}};
};

// At most curve.plateau.
double gemm_efficiency(const GemmCurve& curve, const Kernel& gemm);

struct Device {
    std::string name;
    std::string title;
    FlopsPerSecond peak_half;  // fp16 / bf16 dense matrix
    FlopsPerSecond peak_single;
    Bytes memory;
    BytesPerSecond memory_bandwidth;    // nominal
    double memory_efficiency = 1.0;     // of element-wise kernels
    double attention_efficiency = 0.5;  // fused attention core, of peak, by the FLOPs that it executes
    Seconds kernel_launch;
    GemmCurve gemm;

    FlopsPerSecond peak(Precision precision) const { return precision == Precision::fp32 ? peak_single : peak_half; }
};

// Reads a device object, records its mistakes in the field's document, and refuses unknown keys. Constants are objects
// with their source; "specification" (data sheet) and "fitted" (measured, fitted or assumed) are apart. The
// measurements behind them are the file's "fit" and "check" (see measurement.hpp).
Device read_device(Field field, std::string name);
Device load_device(std::string_view name);  // a shipped device, or a path; throws ConfigError
std::vector<std::string> device_names();    // shipped, sorted

// launch + max(executed flops / (peak * efficiency), bytes / (memory bandwidth * efficiency)).
Seconds kernel_time(const Device& device, Precision precision, const Kernel& kernel);
Seconds kernel_time(const Device& device, Precision precision, std::span<const Kernel> kernels);  // one after another
Flops total_flops(std::span<const Kernel> kernels);

// Mixed-precision Adam on `parameters` parameters, all of them updated by this rank: one fused pass, bound by memory
// traffic of 30 bytes per parameter (reads: gradient, master copy, momentum and variance in fp32, 16; writes: the last
// three, 12, and the half-precision working copy, 2).
Seconds optimizer_time(const Device& device, double parameters);

}  // namespace weft
