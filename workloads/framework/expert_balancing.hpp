// What ranks tell one another to keep experts evenly loaded.
#pragma once

#include <span>
#include <vector>

#include "workloads/job/job.hpp"

namespace weft {

// By bias: before the optimizer every rank learns how many tokens each expert of the stage's layers got. Megatron-core
// 0.11 to 0.19 (core/distributed/finalize_model_grads.py _update_router_expert_bias, core/transformer/moe/moe_utils.py
// get_updated_expert_bias) stacks the fp32 counts of all layers and sums them once over tensor x context x data ranks.
// So does torchtitan (components/optimizer.py, _update_expert_bias), whose tensor ranks have all counted the same
// tokens, over the others.
std::vector<Call> expert_bias_calls(const Job& job, std::span<const StageModule> modules);

// By a term of the loss, in every pass through a router, of Megatron-core (transformer/moe/router.py, moe_utils.py by
// tag); torchtitan's and DeepSpeed's ranks keep to their own tokens. Counts are int64.
//   auxiliary_loss           one for each expert, over tensor x context ranks; 0.8, where tokens go all-to-all: over
//                            context ranks; before: none
//   sequence_auxiliary_loss  one for each expert and sequence, over tensor x context ranks; to 0.13 the probabilities
//                            of their tokens instead, in fp32, gathered forward, and their gradients dealt out backward
//   global_auxiliary_loss    one for each expert, over tensor x context x data ranks
// Several losses (since 0.14) are computed one after another in this order.
struct LossCalls {
    std::vector<Call> forward, backward;
    // Since 0.13 not where the pass is run again for its gradients, but then (torch.is_grad_enabled).
    Setting once = Setting::on;
};
LossCalls balancing_loss_calls(const Job& job);

// That, or a loss among several.
bool balances_by(const Job& job, Balancing balancing);

void check_balancing(const Job& job, std::vector<JobError>& errors);

}  // namespace weft
