// TFLOP/s per accelerator as different codes print it for one and the same step. Formulas:
// models/transformer/flops.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "workloads/job/job.hpp"
#include "workloads/report/report.hpp"

namespace weft {

enum class FlopConvention : std::uint8_t {
    model,          // the matrix products of forward and backward: what MFU means
    megatron,       // Megatron-LM of 2021, Megatron-DeepSpeed, GPT-NeoX since 2023-09-27: full recomputation counts
    neox,           // GPT-NeoX before that: attention five times, recomputed matrices not at all
    megatron_core,  // gated and grouped matrices, recomputed ones not at all; since core-0.12 half of attention
};
inline constexpr std::array<std::string_view, 4> flop_convention_names{"model", "megatron", "neox", "megatron_core"};
std::optional<FlopConvention> find_flop_convention(std::string_view name);
std::string_view name(FlopConvention convention);

// Of one step of the job, all accelerators together.
Flops step_flops(const Job& job, FlopConvention convention);
// Of one accelerator, where the step takes `step`.
FlopsPerSecond flop_rate(const Job& job, FlopConvention convention, Seconds step);

// The same as a line of a report: throughput.<convention>_tflops_per_gpu.
Metric flop_metric(const Job& job, FlopConvention convention, Seconds step);

}  // namespace weft
