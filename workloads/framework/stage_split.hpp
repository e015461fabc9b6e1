// How the layers of a model are dealt to pipeline stages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/job/job.hpp"

namespace weft {

// Transformer layers per stage as GPT-NeoX and DeepSpeed 0.14 split `layers` by `type:transformer|mlp`, over at most
// layers + 2 stages. The pattern also matches the two reshaping functions before and after the layers, so these weigh
// as much as a layer. DeepSpeed's balanced partition keeps, for each prefix, the cut with the smallest difference
// between the heaviest and the lightest part, the latest of equals: of equal items the first parts then hold one more.
std::vector<std::uint32_t> neox_split(std::uint32_t layers, std::uint32_t stages);

// The same number of layers on every stage; empty, with the reason in `why`, where stages do not divide layers.
std::vector<std::uint32_t> even_split(std::uint32_t layers, std::uint32_t stages, std::string& why);

// Embedding and output layer count as a layer each, so the first and the last stage hold one fewer: Megatron's
// --account-for-embedding-in-pipeline-split and --account-for-loss-in-pipeline-split, DeepSpeed's
// `type:transformer|embedding`. Empty, with the reason in `why`, where stages do not divide layers + 2.
std::vector<std::uint32_t> ends_split(std::uint32_t layers, std::uint32_t stages, std::string& why);

// Layers of model parts where the job says them (Layout::by_hand), or DeepSpeed counts other things than layers.

// Layers of each model part, without prediction modules; empty, with the reason in `why`, if they cannot be so.
//
// By hand: as many parts as the job has, and together the model's layers. By first and last counts: those are of
// pipeline stages, whose parts share them evenly, as the middle stages do the rest (Megatron-core 0.9 to 0.19,
// core/transformer/transformer_config.py, transformer_block.py get_num_layers_to_build).
std::vector<std::uint32_t> by_hand(const Job& job, std::string& why);

// What a layout by hand asks of framework, version and schedule, and the model has not.
void check_by_hand(const Job& job, std::vector<JobError>& errors);

// DeepSpeed's `uniform` and `parameters` over GPT-NeoX's items: embedding, reshape, layers, reshape, norm, output layer
// (runtime/pipe/module.py _partition_layers; runtime/utils.py partition_uniform, partition_balanced).
std::vector<std::uint32_t> items_split(const Job& job, std::string& why);

}  // namespace weft
