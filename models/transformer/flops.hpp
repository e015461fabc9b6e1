// FLOPs of a training step as different codes count them. "TFLOP/s per GPU" means nothing without its convention.
#pragma once

#include <cstdint>

#include "models/transformer/transformer.hpp"
#include "sim/base/quantity.hpp"

namespace weft {

// Matmul FLOPs of the model for `sequences` sequences of length `sequence`, forward and backward, no recomputation:
// 6 FLOPs per matrix parameter and token plus 12 L h s per token of attention scores (full, not causal; of windowed
// layers the share of them that causal attention leaves), i.e.
// 72 B s L h^2 (1 + s/6h + V/12Lh) for h_ffn = 4h, with the vocabulary padded for one tensor rank.
// Source: Narayanan et al. 2021 (2104.04473) without recomputation; Korthikanti et al. 2022 (2205.05198). Of experts,
// the router's matrix, the top_k that a token meets and the shared ones. 2 FLOPs less of frozen matrices, and 6 more of
// adapters (trained.hpp).
Flops model_flops(const Transformer& model, double sequences, double sequence, const Trained& trained = {});

// Passes over the layers that a printed figure counts.
enum class Passes : std::uint8_t { forward_backward = 3, with_recompute = 4 };

// 24 c B s L h^2 (1 + s/6h + V/16Lh), c = 3 or 4: Narayanan et al. 2021 and Megatron-DeepSpeed (always c = 4, i.e.
// 96 B s L h^2 (...)), and GPT-NeoX since September 2023 (c = 4 with activation checkpointing, else 3; the vocabulary
// term is exact only for c = 4). It knows only plain layers (h_ffn = 4h, ungated, as many key-value heads as heads).
Flops megatron_flops(const Transformer& model, double sequences, double sequence, Passes passes);

// Megatron-core up to 0.11 (training.py, num_floating_point_operations()): 12 B s L h^2 [(1 + g/a + s/h) q +
// f/h (3/2 if gated) + V/2Lh], q = a d / h: no recomputation, attention in full. Of experts it counts top_k MLPs in
// every layer, and neither shared ones nor router.
Flops megatron_core_2024_flops(const Transformer& model, double sequences, double sequence);

// Whether layers are a mixer or a feed-forward alone, as in Megatron-core's hybrid patterns.
bool is_hybrid(const Transformer& model);

// Since 8873b55d of March 2025 (core 0.12): 6 B s times the matrices that a token meets, but for the router's, plus
// 6 B s^2 L a d: half of causal attention, in windowed layers, too. The norms of latent attention and of prediction
// modules, which it counts as elements of matrices, are left out here. Recurrent mixers and hybrid patterns (layers of
// a mixer or a feed-forward alone) as of d98e8a64, August 2026: Mamba-2 with 2 h values whatever it has and 3.5 per
// value and element of a state, without its convolution; of a gated delta net the convolution and 4 v^2 of each head;
// neither indexers nor that they leave most scores out; in hybrid patterns neither gates, latent attention nor what
// joins prediction modules. Prediction modules are as the last layer. Kimi Delta and lightning attention, which it has
// not, are counted as in model_flops.
Flops megatron_core_flops(const Transformer& model, double sequences, double sequence);

// GPT-NeoX before September 2023: B s (6 P + 60 s h L): attention five times, no recomputed matrices; P includes the
// embeddings. FORGE, LUMI's GPT-NeoX runs and the GPT-NeoX-20B paper print it.
Flops neox_2022_flops(const Transformer& model, double sequences, double sequence);

}  // namespace weft
