// Memory traffic of what frameworks do to gradients and parameters beside the products: passes bound by bytes, which
// weigh most where micro-batches are small or few.
#pragma once

#include "sim/base/quantity.hpp"

namespace weft {

struct Job;

// Once per step, in bytes per parameter.
struct UpdateTraffic {
    double held = 0;     // of those whose gradients the rank holds
    double updated = 0;  // of those whose optimizer states it holds
};

// Megatron-LM's Float16OptimizerWithFloat16Params and, with zero 1, DistributedOptimizer; DeepSpeed's ZeRO and bf16
// optimizers do the same passes in another order. See the list in update_traffic.cpp.
UpdateTraffic mixed_precision_update(const Job& job);
// Fused Adam on fp32 shards, the gradients' norm and clipping (torch.optim, torch.nn.utils.clip_grad_norm_).
UpdateTraffic fused_update(const Job& job);

// Per element of a weight's gradient and micro-batch: the product writes the gradient in the training precision, and a
// pass adds it to the accumulated one.
Bytes separate_accumulation(const Job& job);
// As separate_accumulation where one micro-batch's gradient is not simply kept.
Bytes repeated_accumulation(const Job& job);
// Megatron's: none where the product itself accumulates (--gradient-accumulation-fusion; off under Megatron-FSDP).
Bytes megatron_accumulation(const Job& job);

}  // namespace weft
