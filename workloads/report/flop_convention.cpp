#include "workloads/report/flop_convention.hpp"

#include <algorithm>

#include "models/transformer/flops.hpp"
#include "workloads/framework/version_since.hpp"

namespace weft {

std::optional<FlopConvention> find_flop_convention(std::string_view name) {
    const auto found = std::ranges::find(flop_convention_names, name);
    if (found == flop_convention_names.end()) return std::nullopt;
    return static_cast<FlopConvention>(found - flop_convention_names.begin());
}

std::string_view name(FlopConvention convention) { return flop_convention_names[static_cast<std::size_t>(convention)]; }

Flops step_flops(const Job& job, FlopConvention convention) {
    const double sequences = job.batch.global, sequence = job.batch.sequence;
    switch (convention) {
        case FlopConvention::megatron:
            return megatron_flops(job.model, sequences, sequence,
                                  job.recompute == Recompute::full ? Passes::with_recompute : Passes::forward_backward);
        case FlopConvention::neox:
            return neox_2022_flops(job.model, sequences, sequence);
        case FlopConvention::megatron_core:
            return has_since(job.megatron.version, half_attention_since)
                       ? megatron_core_flops(job.model, sequences, sequence)
                       : megatron_core_2024_flops(job.model, sequences, sequence);
        case FlopConvention::model:
            break;
    }
    return model_flops(job.model, sequences, sequence);
}

FlopsPerSecond flop_rate(const Job& job, FlopConvention convention, Seconds step) {
    return step_flops(job, convention) / step / static_cast<double>(job.layout.ranks());
}

Metric flop_metric(const Job& job, FlopConvention convention, Seconds step) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> all{{
        {"throughput.model_tflops_per_gpu",
         "matrix products of forward and backward, no recomputation, attention in full"},
        {"throughput.megatron_tflops_per_gpu",
         "as Megatron-LM printed it in 2021, and GPT-NeoX since 2023-09-27: full recomputation counts"},
        {"throughput.neox_tflops_per_gpu",
         "as GPT-NeoX printed it before 2023-09-27: attention five times, no recomputation"},
        {"throughput.megatron_core_tflops_per_gpu",
         "as the version of Megatron-core prints it: since core-0.12 half of causal attention, no recomputation"},
    }};
    const auto& [key, meaning] = all[static_cast<std::size_t>(convention)];
    return {key, flop_rate(job, convention, step).value / 1e12, "TFLOP/s", meaning};
}

}  // namespace weft
