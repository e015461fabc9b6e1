// The memory of a stage: what its chunks keep, which moment of the step is the fullest, what stands beside it.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/quantity.hpp"
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

// Of parameters and gradients, beside the rank's share of parameters and of optimizer states.
struct HeldStates {
    Bytes gradients;  // of the share
    Bytes copies;     // of parameters, and gradients that are not yet reduced
    Bytes total() const { return gradients + copies; }
};

// The fullest moment of forward and backward, beside `throughout`. Where states stay (PassingStates::stay) no states
// are in it: it is that of every job with equal chunks, moments and layers.
struct FullestPass {
    Bytes activations, workspace;
    HeldStates states{}, throughout{};
    FullestAt at{};
    Bytes total() const { return activations + workspace + states.total(); }
};
FullestPass fullest_pass(const Job& job, const Stage& stage, std::span<const Moment> moments, HeldByLayers& held);

// Of a stage with its chunks, modules and parameters.
MemoryUse memory_use(const Job& job, const Stage& stage, FullestPass pass);
MemoryUse memory_use(const Job& job, const Stage& stage);  // and its slots

// When activations go to the host and come back, as Transformer Engine spreads the copies of the first n of so many
// layers over all of them (pytorch/cpu_offload.py, AsyncDoubleBufferGroupOffloadHandler, layer_window_map):
//   forward    the copy of layer 0 starts when it has run; that of layer i + 1 when layer window(i) has, which waits
//              for the copy of layer i
//   backward   the copy of layer i starts before layer window(i) runs, which waits for that of layer i + 1
constexpr std::uint32_t copy_window(std::uint32_t layers, std::uint32_t copied, std::uint32_t i) {
    return layers / copied * (i + 1) - 1 + std::min(i + 1, layers % copied);
}

// What the optimizer takes. Muon's extra work: the momentum of each matrix of a layer is made orthogonal by five steps
// of Newton and Schulz (Jordan et al. 2024), for m rows and n columns, m <= n:
//   A = X X^T      2 m m n FLOPs
//   B = b A + c A A    2 m m m
//   X = a X + B X  2 m m n
// in fp32 with products at the rate of bf16 (emerging_optimizers, newton_schulz; fp32_matmul_prec "medium").

// Passes over gradients and parameters, on the device or the host; no less than the host takes for a kernel per tensor.
Seconds update_time(const Plan& plan, const Stage& stage);
// Of it, without what the host takes to launch them.
Seconds passes_of_update(const Plan& plan, const Stage& stage);

// Parameters of this rank's stage that Muon updates: those of layers' matrices.
double orthogonal_parameters(const Stage& stage);

// Each tensor rank does its own share of a matrix (Megatron-core's muon_tp_mode "blockwise"), queries, keys and values
// of plain attention as matrices of their own; data ranks that share optimizer states do as much of it each
// (layer_wise_optimizer.py deals matrices by size; assumed even).
Seconds orthogonalisation(const Plan& plan, const Stage& stage);
Flops orthogonalisation_flops(const Job& job, const Stage& stage);

// Selective recomputation in the layers of a job: which parts it can mean there, and what backward repeats for them.

// Of the parts that a job recomputes, those that a kind of layer has. A norm that Transformer Engine computes within
// the map after it (LayerNormLinear) is recomputed with its MLP and never alone.
LayerParts recomputed_parts(const Job& job, LayerKind kind);

// Appends what no layer of the model, or no version of the framework, can recompute.
void check_recompute(const Job& job, const Refusals& refuse);

// Of a layer's kernels, those that make what recomputation of `piece` discards.
std::vector<Kernel> discarded_kernels(const LayerPiece& piece);

// In the order of backward. Checkpoint and norm before an MLP are repeated when the gradient of its output has come;
// the other parts as the hooks of CheckpointWithoutOutput have it, on the gradient of what is made of their output.
std::vector<PieceRepeat> piece_repeats(LayerParts parts, const std::vector<PieceCost>& pieces);

// How many pieces, from the first on, a checkpoint of the layer runs again. PyTorch's stops once backward has all that
// it asks for (PyTorch), the last of which is the input of the map that leaves the MLP.
std::size_t checkpointed_pieces(const Job& job, LayerKind kind, const std::vector<LayerPiece>& pieces);

}  // namespace weft
