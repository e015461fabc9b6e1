// Balancing by bias: before the optimizer every rank learns how many tokens each expert of the stage's layers got.
#pragma once

#include <span>
#include <vector>

#include "workloads/job.hpp"

namespace weft {

// Megatron-core 0.11 to 0.19 (core/distributed/finalize_model_grads.py _update_router_expert_bias,
// core/transformer/moe/moe_utils.py get_updated_expert_bias) stacks the fp32 counts of all layers and sums them once
// over tensor x context x data ranks; here over tensor ranks and then over the others. So does torchtitan
// (components/optimizer.py, _update_expert_bias), whose tensor ranks have all counted the same tokens, over the others.
std::vector<Call> expert_bias_calls(const Job& job, std::span<const StageModule> modules);

}  // namespace weft
