// Device memory of one rank of one pipeline stage.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/transformer/kernels.hpp"
#include "models/transformer/transformer.hpp"
#include "sim/base/enumerators.hpp"
#include "sim/base/quantity.hpp"

namespace weft {

// What backward computes again instead of what forward would have kept for it.

// Of a layer: nothing, some of its parts, all that follows from its input, or that but for the results of some of its
// operations (KeptProduct).
enum class Recompute : std::uint8_t { none, selective, full, operations };

// Whether a layer runs forward again, as a whole, before it runs backward.
constexpr bool runs_again(Recompute recompute) { return recompute >= Recompute::full; }

// What a layer computes again by itself. Megatron-core (transformer/transformer_config.py, recompute_modules) runs
// `core`, `mlp`, `experts` (router, dispatch, experts, shared experts) and `shared_experts` as checkpoints, which keep
// their inputs, and their outputs as what comes next wants them. Of the others it gives back the output alone, whose
// maker's input is there anyhow (tensor_parallel/random.py, CheckpointWithoutOutput): norms that are modules of their
// own, latent attention's maps up with their norms and rotation, and the experts' activation function.
enum class LayerPart : std::uint8_t {
    core,
    input_norm,
    mlp_norm,
    latent_up,
    mlp,
    experts,
    expert_activation,
    shared_experts,
};

using LayerParts = EnumSet<LayerPart>;

// Which layers of a model part are recomputed in full, `n` given:
//   uniform  all, in groups of n: of a group its first layer's input is kept, and backward runs all of it forward first
//   block    the first n
//   every    each n-th
enum class RecomputeMethod : std::uint8_t { uniform, block, every };

struct Recomputation {
    Recompute granularity = Recompute::none;
    LayerParts parts{LayerPart::core};                  // under `selective`
    RecomputeMethod method = RecomputeMethod::uniform;  // under `full`
    std::uint32_t layers = 1;                           // n of the method

    // NOLINTNEXTLINE(google-explicit-constructor): `recompute = full` says what it means
    constexpr Recomputation(Recompute word = Recompute::none) : granularity(word) {}

    // Of a layer of a model part, counted from 0.
    constexpr Recompute of_layer(std::uint32_t index) const {
        if (granularity != Recompute::full || method == RecomputeMethod::uniform) return granularity;
        const bool chosen = method == RecomputeMethod::block ? index < layers : (index + 1) % layers == 0;
        return chosen ? Recompute::full : Recompute::none;
    }
    constexpr std::uint32_t group() const { return method == RecomputeMethod::uniform ? layers : 1; }

    auto operator<=>(const Recomputation&) const = default;
};

// What the modules of frameworks keep differently.
// Where the weights of the chosen experts are multiplied in: to the rows that came back, which are then kept as well
// (Megatron-core to 0.10, DeepSpeed), or within the experts' activation function (Megatron-core since 0.11).
enum class ExpertWeights : std::uint8_t { on_return, in_activation };
// Where the gradient of a parameter matrix goes: to a tensor of its own, or straight into the accumulated gradients,
// while autograd is handed a placeholder as large in working precision (Transformer Engine, get_dummy_wgrad: one per
// shape, never freed).
enum class WeightGradients : std::uint8_t { own, accumulated };

// What maps cut by their outputs keep of tokens that tensor ranks share: the own share, gathered again in backward, or
// all that they were given (PyTorch's DTensor: torch/distributed/tensor/parallel/style.py, PrepareModuleInput).
enum class MapInputs : std::uint8_t { gathered_again, kept };

// A gated activation function as one kernel, which keeps its inputs and its output, or as modules of PyTorch run it one
// by one: the product keeps what the function made of one half as well.
enum class GatedFunction : std::uint8_t { whole, in_parts };
// A norm as one kernel, or as transformers' LlamaRMSNorm runs it: in fp32, where it keeps its input and what its weight
// is multiplied with.
enum class NormFunction : std::uint8_t { whole, in_parts };

struct Inventory {
    Recompute recompute = Recompute::none;
    LayerParts parts{LayerPart::core};  // under `selective`, of those that the layer has
    ExpertWeights expert_weights = ExpertWeights::on_return;
    MapInputs map_inputs = MapInputs::gathered_again;
    Autocast autocast = Autocast::off;
    GatedFunction gated_function = GatedFunction::whole;
    NormFunction norm_function = NormFunction::whole;
};

// Backward is through with the MLP, and what it kept is gone, when it comes to attention.
enum class LayerHalf : std::uint8_t { attention, mlp };

struct SavedTensor {
    std::string_view name;
    Bytes bytes;
    LayerHalf half{};
};

// Of what recomputation by operations keeps, results that backward itself has no use for: what is computed again makes
// others of them.
constexpr std::string_view products_of_recomputation = "products for what is computed again";

// What one transformer layer keeps for backward, for one micro-batch on one tensor rank, tensor by tensor.
// For a plain layer with dropout and 2-byte activations these are Korthikanti et al. (2205.05198) equations 1-6:
//   none       s b h (10 + 24/t + 5 a s / (h t))    (34/t instead of 10 + 24/t with sequence parallelism)
//   selective  the same without the attention-score term
//   full       2 s b h  (the layer's input; / t with sequence parallelism)
// and by operations what KeptProduct says.
// Other shapes (grouped heads, gated or wider MLPs) by the same inventory. Flash attention keeps, in place of the
// scores, the logarithm of every row's sum in fp32. Masks are kept with dropout only.
// Context ranks keep 1 / context of every term. A layer with experts keeps, in place of the MLP's activations, the
// rows that its experts received (h), both sides of their activation function (f + f_in), perhaps the rows that came
// back to be weighted (h), the same two sides of the shared experts, and the router's probabilities in fp32. Latent
// attention keeps the latent vectors before and after their norms besides the queries, keys and values made from them.
// With products in 8 or 4 bits, what only they take is kept as they take it (recipes.hpp); the attention output,
// which attention itself needs in backward, in both forms (Transformer Engine, pytorch/module/linear.py,
// layernorm_linear.py). Selective recomputation leaves out what its parts make for themselves (LayerPart). What only
// the gradient of a frozen matrix takes is not kept.
std::vector<SavedTensor> saved_tensors(const Transformer& model, LayerKind kind, const Shard& shard,
                                       const Inventory& inventory);
Bytes layer_activations(const Transformer& model, LayerKind kind, const Shard& shard, const Inventory& inventory);

// Per element of the hidden state between layers.
constexpr double residual_bytes(const Shard& shard, const Inventory& inventory) {
    constexpr double fp32 = 4.0;
    return inventory.autocast == Autocast::on ? fp32 : shard.element_bytes;
}

// What is alive while one layer runs backward, beyond what is kept by `inventory`: the most of these moments, each with
// the activations that have been recomputed by then (all of them, or by parts those of the half that is under way), and
// without what backward has freed:
//   the MLP's second map:      the gradients of the layer's output (whole, gathered) and of the map's input
//   its activation function:   the gradient of its input, in place of that of its output
//   its first map:             the gradients of that map's output and input
//   attention:                 the gradients of its output and of queries, keys and values, or of unfused scores twice
// with experts the first three for their rows, and the return of the rows' gradients to them; `made`: of the gradients
// of parameters, where they stay until the layer is done, those of the MLP and of all.
struct MadeGradients {
    Bytes mlp, all;
};
Bytes layer_workspace(const Transformer& model, LayerKind kind, const Shard& shard, const Inventory& inventory,
                      const MadeGradients& made = {});

// Kept by the embedding (dropout mask and token ids; its output is the first layer's input and counted there) and by
// the head (inputs of the final norm and of the logits: 4 s b h, and the softmax or its logarithm in fp32, 4 s b V/t,
// or the logits in working precision) per micro-batch.
Bytes embedding_activations(const Transformer& model, const Shard& shard);
Bytes head_activations(const Transformer& model, const Shard& shard);
// Alive beyond those while the head runs backward: the gradient of its input, its input gathered from the tensor ranks
// under sequence parallelism, the logits' gradient if it does not take the place of what is kept, and a tensor of the
// weight's shape, the gradient or its placeholder. Where autograd goes back through the loss that is one moment, with
// the logarithms gone, and that of the loss another: the gradients of the logarithms and of the logits in fp32, and
// over tensor ranks a third such tensor (_nll_loss_and_log_softmax_backward: the gradient, the exponentials, their
// sum).
Bytes head_workspace(const Transformer& model, const Shard& shard);

// Workspace of the vendor's matrix library, allocated once: 32 MiB for PyTorch (CUDABlasHandlePool, compute capability
// 9 and up; assumed of other devices) and as much for Transformer Engine (module/base.py), there four more for the
// streams of grouped products.
Bytes matrix_library_workspace(const Transformer& model);

// Device memory that no tensor has, of one process: driver, libraries, communicators, and what the caching allocator
// reserves and cannot hand out. It differs between runs of one job, so it is a range.
struct MemoryOverhead {
    Bytes least, expected, most;
};

// Where in a step a rank holds the most: as the last micro-batch that it keeps ends its forward pass, from the loss to
// the gradient of the output layer, in the backward pass of a layer, as the gradients of what is outside of layers are
// reduced, or in the optimizer.
enum class FullestAt : std::uint8_t { forward, loss, backward, end_of_backward, optimizer };
std::string_view place_name(FullestAt at);  // "at the loss"

struct MemoryUse {
    Bytes parameters;   // as they stay from step to step: the working copy, or the fp32 one that the optimizer updates
    Bytes gradients;    // at the peak
    Bytes optimizer;    // momentum, variance, and an fp32 master beside a working copy, of what this rank updates
    Bytes activations;  // at the peak
    Bytes buffers;      // gradient buckets, placeholders and communication buffers; at the peak gathered parameters
    Bytes workspace;    // at the peak: gradients of activations or copies for the update, library workspaces
    MemoryOverhead overhead;
    FullestAt at{};   // where the peak is
    Bytes passing{};  // of gradients and buffers, what is there then and not throughout

    Bytes allocated() const { return parameters + gradients + optimizer + activations + buffers + workspace; }
    Bytes total() const { return allocated() + overhead.expected; }
    Bytes least() const { return allocated() + overhead.least; }  // a device with less cannot run it
    Bytes most() const { return allocated() + overhead.most; }
};

// Recomputation by operations, as torchtitan has it (selective_ac_option = "op"): a layer is a checkpoint, and of what
// its forward makes the results of some operations are kept, so that they are not made again.
// A product with parameters as PyTorch runs it: queries, keys and values apart, and both halves of a gated map.
struct KeptProduct {
    std::string_view kernel;  // that has it
    double outputs = 0;       // per token, on one tensor rank
    bool kept = false;
    bool used = false;  // by backward, as it is; else by what is computed again
};

// In forward order. torchtitan 238fa9953, distributed/activation_checkpoint.py (_apply_op_sac) keeps, of
// models/*/infra/parallelize.py (_op_sac_save_list), fused attention, reduce-scatters, all-to-alls (but for Qwen3's),
// and of products every other one, the first of a layer among them. Grouped products of experts are not in the list,
// and the router's is left out of the count (per_op_sac_force_recompute_mm_shapes_by_fqns).
std::vector<KeptProduct> layer_products(const Transformer& model, LayerKind kind, const Shard& shard);

// Of a piece's forward, what runs again: all but attention and, of its products, those that are kept.
std::vector<Kernel> kernels_again(const Transformer& model, LayerKind kind, const Shard& shard,
                                  const LayerPiece& piece);

}  // namespace weft
