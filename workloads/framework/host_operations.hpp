// What the host issues for a layer, one by one: calls of modules and functions of autograd in Python, kernels, copies
// and hooks. More than the kernels that a device is kept busy by, and what small layers go at the pace of.
#pragma once

#include <cstdint>

#include "models/transformer/kernels.hpp"

namespace weft {

struct Job;

// Whose modules a layer is made of.
enum class Modules : std::uint8_t {
    transformer_engine,  // Megatron-core's default
    megatron,            // Megatron-LM's own, and what was made of it: Megatron-DeepSpeed, GPT-NeoX
    pytorch,             // plain torch.nn, as Hugging Face and llm-foundry have it
    pytorch_units,       // the same, every layer a unit of FSDP
};

// CUDA graphs replay what was issued once: every pass of a layer; of its router (Megatron-core's scope "moe_router
// moe_preprocess"), or of all of it but its experts and what sends tokens to them ("attn moe_router moe_preprocess");
// or of all layers of a stage.
enum class CudaGraphs : std::uint8_t { none, layer, router, around_experts, full };

struct HostOperations {
    double forward = 0, input_backward = 0, weight_backward = 0;

    HostOperations& operator+=(const HostOperations& other);
};

// Of one piece of a layer, communication calls apart.
HostOperations host_operations(const Job& job, Piece piece);
// Whether a graph has the piece.
bool is_replayed(const Job& job, Piece piece);
// Whether one has all of a layer.
bool replays_all(const Job& job);
// What the host issues in place of all of the layer's pieces that are replayed.
HostOperations replay(const Job& job);

}  // namespace weft
