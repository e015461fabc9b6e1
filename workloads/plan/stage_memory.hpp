// The memory of a stage: what its chunks keep, which moment of the step is the fullest, what stands beside it.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "workloads/plan/plan.hpp"
#include "workloads/schedule/schedule.hpp"

namespace weft {

// Ranks that share one copy of experts that are apart, where `ranks` share dense parameters.
double expert_ranks(const Job& job, double ranks);

// Parameters whose optimizer states this rank holds and updates.
double updated_parameters(const Job& job, const Stage& stage);
// What the optimizer remembers of them, on the device or on the host.
Bytes optimizer_states(const Job& job, const Stage& stage);

// What a layer holds of a micro-batch.
struct HeldByLayer {
    Bytes kept, mlp;  // mlp: what is kept of that half
    // While it runs backward and makes gradients of its parameters: which, and what it then needs.
    std::optional<std::pair<MadeGradients, Bytes>> workspace;
};
// By Job::layer_place() and Recompute, as far as it was asked for: the same of all jobs of a model with equal
// Job::shard() and recompute.
using HeldByLayers = std::vector<std::array<std::optional<HeldByLayer>, 4>>;

// Fills in what a chunk keeps per micro-batch.
void count_activations(const Job& job, Chunk& chunk, HeldByLayers& held);

// What layer `i` of a chunk keeps of a micro-batch, wherever.
Bytes layer_activations(const Job& job, const Chunk& chunk, std::uint32_t i);
// Of them, what stays on the device from forward to backward.
Bytes kept_activations(const Job& job, const Chunk& chunk, std::uint32_t i);

// Of a stage with its chunks, slots, modules and parameters.
MemoryUse memory_use(const Job& job, const Stage& stage);
// Of a stage without slots, whose fullest moments are known.
MemoryUse memory_use(const Job& job, const Stage& stage, std::span<const Moment> moments, HeldByLayers& by_layers);

// When activations go to the host and come back, as Transformer Engine spreads the copies of the first n of so many
// layers over all of them (pytorch/cpu_offload.py, AsyncDoubleBufferGroupOffloadHandler, layer_window_map):
//   forward    the copy of layer 0 starts when it has run; that of layer i + 1 when layer window(i) has, which waits
//              for the copy of layer i
//   backward   the copy of layer i starts before layer window(i) runs, which waits for that of layer i + 1
constexpr std::uint32_t copy_window(std::uint32_t layers, std::uint32_t copied, std::uint32_t i) {
    return layers / copied * (i + 1) - 1 + std::min(i + 1, layers % copied);
}

}  // namespace weft
