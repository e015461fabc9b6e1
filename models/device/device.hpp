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

// Efficiency of a gemm on this device: e = plateau * q * s, where
//   q = tile quantisation: m n / (ceil(m/tile_m) tile_m * ceil(n/tile_n) tile_n), waves over the compute units
//   included, s = saturation with the inner dimension and with the amount of work: k / (k + k_half).
struct GemmCurve {
    double plateau = 1.0;
    double tile_m = 1, tile_n = 1;
    double compute_units = 1;
    double k_half = 0;
};

struct Device {
    std::string name;
    std::string title;
    FlopsPerSecond peak_half;  // fp16 / bf16 dense matrix
    FlopsPerSecond peak_single;
    Bytes memory;
    BytesPerSecond memory_bandwidth;    // nominal
    double memory_efficiency = 1.0;     // of element-wise kernels
    double attention_efficiency = 0.5;  // fused attention core, of peak
    Seconds kernel_launch;
    GemmCurve gemm;

    FlopsPerSecond peak(Precision precision) const { return precision == Precision::fp32 ? peak_single : peak_half; }
};

Device read_device(Field field, std::string name);
Device load_device(std::string_view name);  // a shipped device, or a path; throws ConfigError
std::vector<std::string> device_names();

// launch + max(flops / (peak * efficiency), bytes / (memory bandwidth * efficiency)).
Seconds kernel_time(const Device& device, Precision precision, const Kernel& kernel);
Seconds kernel_time(const Device& device, Precision precision, std::span<const Kernel> kernels);  // one after another
Flops total_flops(std::span<const Kernel> kernels);

// Adam on `parameters` parameters of which this rank updates all: bound by memory traffic.
Seconds optimizer_time(const Device& device, double parameters);

}  // namespace weft
