// Which parameters of a model a run trains. The others are frozen: what runs forward runs through them, and so do the
// gradients of inputs, but they have no gradient, no optimizer state and no reduction of their own.
//
// Low-rank adapters (LoRA, Hu et al. 2021, 2106.09685) stand beside linear maps W of a model that is frozen as a whole:
//   y = W x + s B (A x),   A: width x inputs,   B: outputs x width
// in working precision also where products are narrower. Of a map cut by its outputs tensor ranks cut A and B by
// theirs and gather A x; of one cut by its inputs A by its inputs, summing A x, and B by its outputs, gathering them
// (Megatron-Bridge 067f987d, peft/utils.py, ParallelLinearAdapter). Beside a map of experts stands one for all of a
// rank's, and the same on every expert rank, which sum its gradients (share_expert_adapters, peft/lora.py).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/enumerators.hpp"

namespace weft {

struct Layer;
struct LayerPiece;
struct Module;
struct Shard;
struct Transformer;
enum class LayerKind : std::uint8_t;

enum class ModelPart : std::uint8_t { embedding, attention, mlp, experts, router, norms, head, encoder, projector };

// Maps as Megatron-core names them, where queries, keys and values are one, and both halves of a gated map; and as
// transformers does, where each has an adapter of its own.
enum class AdapterTarget : std::uint8_t {
    linear_qkv,
    linear_proj,
    linear_fc1,
    linear_fc2,
    q_proj,
    k_proj,
    v_proj,
    o_proj,
    gate_proj,
    up_proj,
    down_proj,
    in_proj,   // of Mamba-2
    out_proj,  // of a recurrence
};

inline constexpr EnumSet<ModelPart> whole_model{ModelPart::embedding, ModelPart::attention, ModelPart::mlp,
                                                ModelPart::experts,   ModelPart::router,    ModelPart::norms,
                                                ModelPart::head,      ModelPart::encoder,   ModelPart::projector};

struct Trained {
    EnumSet<ModelPart> frozen;  // with adapters the whole model
    EnumSet<AdapterTarget> targets;
    std::uint32_t width = 0;  // of adapters (the rank of B A); 0: none

    bool everything() const { return frozen.empty(); }
    // Whether the own parameters of a module (transformer.hpp) are trained.
    bool trains(std::string_view module) const;
    auto operator<=>(const Trained&) const = default;
};

// How many adapters stand beside a module of such a layer, and elements of them all, whole.
std::uint32_t adapters_beside(const Layer& layer, const Trained& trained, std::string_view module);
double adapter_elements(const Transformer& model, const Trained& trained, std::string_view module);

// Marks frozen tensors, and appends A and B to the modules beside which adapters stand, as one of `tensor` ranks has
// them.
void train(std::vector<Module>& modules, const Transformer& model, const Trained& trained, std::uint32_t tensor);

// Takes the gradients of frozen parameters out of a layer.
void freeze(std::vector<LayerPiece>& pieces, const Trained& trained);
// Adds the products with A and B, what scales and adds them, and the gradients of it all.
void add_adapters(std::vector<LayerPiece>& pieces, const Transformer& model, const Shard& shard);

// Of the whole model; with adapters these alone.
std::uint64_t trained_parameters(const Transformer& model, const Trained& trained);

// Why the model cannot be trained so on `tensor` ranks, one sentence each.
std::vector<std::string> training_obstacles(const Transformer& model, const Trained& trained, std::uint32_t tensor);

}  // namespace weft
