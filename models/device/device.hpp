// An accelerator: what its data sheet says, how much of it kernels reach, and the time of a kernel.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/transformer/kernels.hpp"
#include "sim/base/quantity.hpp"
#include "sim/io/document.hpp"

namespace weft {

// fp8, fp4: products with parameters run in 8 or 4 bits (models/transformer/recipes.hpp); everything else is as in
// bf16.
enum class Precision : std::uint8_t { fp32, fp16, bf16, fp8, fp4 };
constexpr bool is_narrow(Precision precision) { return precision >= Precision::fp8; }
double element_bytes(Precision precision);  // of activations and of the parameters' working copy

// An output tile of the gemm library. Smaller tiles reuse less of what they load: `share` of the plateau is left.
struct Tile {
    double m = 1, n = 1;
    double share = 1.0;
};

// What is left of the plateau where a dimension is a multiple of no more than `multiple` elements (a power of two), so
// that rows start where wide loads cannot: of all products, or of batched ones (unfused attention's) alone, where the
// library has kernels that pad single ones.
struct Alignment {
    std::uint32_t multiple = 1;
    double share = 1.0;
    enum class Of : std::uint8_t { all, batched } of = Of::all;
};

// Efficiency of a gemm, of peak: plateau * alignment * share * q * k / (k + split k_half + (split - 1) sums), for the
// tile and the split (1, 2, 4, 8) where that is largest, with
//   q = m n count split / (waves * compute_units * tile m * tile n),
//       waves = ceil(count split ceil(m / tile m) ceil(n / tile n) / compute_units):
//       every compute unit works on one tile at a time, so ragged edges and a last, partly filled wave are lost. A long
//       k cut into `split` parts fills more of the units where tiles are few (the gemm libraries' split-k);
//   sums: what writing and reading a part's sums costs, as steps of k (device.cpp);
//   k_half: the inner dimension at which filling and draining the pipeline costs as much as the product itself;
//   alignment: the share of the least aligned of m, n and k.
struct GemmCurve {
    double plateau = 1.0;
    double k_half = 0.0;
    double compute_units = 1;
    std::vector<Tile> tiles{Tile{}};
    std::vector<Alignment> alignments{};  // least multiple first; beyond the last, and where there is none: 1
};

// Efficiency of fused attention, of peak, by the FLOPs that it executes: plateau * keys / (keys + keys_half) *
// head size / (head size + head_half), of heads of 128 where they are larger; of FlashAttention, whose kernels are made
// for multiples of 32, times head size over the next of these (csrc/flash_attn/src/static_switch.h).
struct AttentionCurve {
    double forward = 1.0;  // plateaus
    double backward = 1.0;
    double keys_half = 0.0;
    double head_half = 0.0;
    double keys_half_backward = 0.0;
};

// At most curve.plateau.
double gemm_efficiency(const GemmCurve& curve, const Kernel& gemm);

// What a device draws, its memory included, by what it does. All 0: not known.
struct DevicePower {
    Watts compute;
    Watts communication;  // while it communicates and computes nothing
    Watts idle;           // while it waits

    bool is_known() const { return compute > Watts{}; }
};

struct Device {
    std::string name;
    std::string title;
    std::string die;           // the device whose file has the constants of its die; often its own
    FlopsPerSecond peak_half;  // fp16 / bf16 dense matrix
    FlopsPerSecond peak_single;
    FlopsPerSecond peak_eighth;   // fp8 dense matrix; 0: it has none
    FlopsPerSecond peak_quarter;  // fp4 dense matrix; 0: it has none, nor scales of blocks that its matrix units take
    Bytes memory;
    BytesPerSecond memory_bandwidth;  // nominal
    double memory_efficiency = 1.0;   // of element-wise kernels
    // Of each PassClass; 0: not measured, as memory_efficiency.
    std::array<double, pass_classes> pass_efficiency{};
    AttentionCurve attention;
    AttentionCurve attention_cudnn;                   // of AttentionCore::cudnn
    AttentionCurve attention_cudnn_9_13;              // of AttentionCore::cudnn_9_13
    AttentionCurve attention_triton;                  // of AttentionCore::triton
    AttentionCurve attention_eighth{.forward = 0.0};  // of operands in fp8, of their peak; 0: not measured
    Seconds kernel_launch;  // from the end of a kernel to the start of the next, when the host is ahead
    Seconds host_launch;    // of the host, per operation: layers that are shorter go at the host's pace
    // How much longer computation takes while its device communicates; 1: not at all.
    double interference = 1.0;
    // Of the clock behind the peaks: what power leaves to devices side by side, above 1 where they have more of it than
    // those that reached the peaks. In 4 bits, whose units draw more, `sustained_quarter` of that.
    double sustained_clock = 1.0, sustained_quarter = 1.0;
    double sustained(Precision precision) const {
        return sustained_clock * (precision == Precision::fp4 ? sustained_quarter : 1.0);
    }
    // Chips differ: this share of machines computes so many times as long.
    double slow_share = 0.0;
    double slow_factor = 1.0;
    double slowdown = 1.0;  // of all kernels, by the slowest of those that wait for one another
    GemmCurve gemm;
    GemmCurve gemm_eighth;  // in fp8; in fp4 it is assumed to be the same of that peak
    DevicePower power;

    FlopsPerSecond peak(Precision precision) const;
    double efficiency_of(PassClass pass) const {
        const double known = pass_efficiency[static_cast<std::size_t>(pass)];
        return known > 0.0 ? known : memory_efficiency;
    }
};

// As device files name the efficiency of passes of this class: "pass_norm"; of fused ones "memory_efficiency".
std::string_view pass_key(PassClass pass);

// Reads a device object, records its mistakes in the field's document, and refuses unknown keys. Constants are objects
// with their source; "specification" (data sheet) and "fitted" (measured, fitted or assumed) are apart. With "die", the
// name of another device, it has that one's constants but for those that it gives itself. The
// measurements behind them are the rows marked "fit" of the validation sets (tests/validation).
Device read_device(Field field, std::string name);
Device load_device(std::string_view name);  // a shipped device, or a path; throws ConfigError
std::vector<std::string> device_names();    // shipped, sorted

// launch + max(executed flops / (peak * sustained clock * efficiency), bytes / (memory bandwidth * efficiency)).
Seconds kernel_time(const Device& device, Precision precision, const Kernel& kernel);
Seconds kernel_time(const Device& device, Precision precision, std::span<const Kernel> kernels);  // one after another
Flops total_flops(std::span<const Kernel> kernels);

// How many times as long the slowest of `machines` takes on average, where each is slow by chance: 1 + (slow_factor -
// 1) (1 - (1 - slow_share)^machines). A step in which all ranks wait for one another takes as long as its slowest; that
// one machine is slow or several are is the same to it.
double expected_slowdown(const Device& device, std::uint32_t machines);

// Of an element-wise pass, or several at once, that reads and writes `moved`: 0 for none.
Seconds pass_time(const Device& device, Bytes moved, PassClass pass = PassClass::fused);

}  // namespace weft
