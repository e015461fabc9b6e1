// Layers of model parts where the job says them (Layout::by_hand), or DeepSpeed counts other things than layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/job/job.hpp"

namespace weft {

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
