// What fully_shard keeps whole, and how long: settings of a job, or what torchtitan does by itself.
#pragma once

#include <cstdint>

#include "workloads/job/settings.hpp"

namespace weft {

constexpr bool is_hybrid(const FsdpSettings& settings) {
    return settings.strategy == Sharding::hybrid || settings.strategy == Sharding::hybrid_gradients;
}
constexpr bool keeps_parameters(const FsdpSettings& settings) {
    return settings.strategy == Sharding::gradients || settings.strategy == Sharding::hybrid_gradients;
}

// Whether version 2 shards layers again between forward and backward. torchtitan's default keeps the parameters of a
// pipeline's stages (models/llama3/infra/parallelize.py, apply_fsdp).
constexpr bool reshards_layers(const FsdpSettings& settings, std::uint32_t stages) {
    const bool asked = settings.reshard != Reshard::by_strategy;
    return asked ? settings.reshard != Reshard::never : !keeps_parameters(settings) && stages == 1;
}

// Of version 2, by_version resolved: stages of a pipeline sum whole gradients until their last backward pass
// (torch/distributed/pipelining/stage.py, backward_maybe_with_nosync).
constexpr Accumulate accumulation_of(const FsdpSettings& settings, std::uint32_t stages) {
    if (settings.accumulate != Accumulate::by_version) return settings.accumulate;
    return stages > 1 ? Accumulate::step : Accumulate::never;
}

// Ranks that share one copy of a stage's gradients, of which it sums whole those of everything, of one of its `parts`
// beside the shards of all, or nothing.
constexpr double gradient_ranks(Accumulate accumulation, std::uint32_t parts, double ranks) {
    if (accumulation == Accumulate::step) return 1;
    return accumulation == Accumulate::round ? 1 / (1.0 / parts + 1 / ranks) : ranks;
}

}  // namespace weft
