// Calls that every framework derived from Megatron-LM's tensor parallelism issues in the same way.
#pragma once

#include "workloads/framework/framework.hpp"

namespace weft {

Bytes hidden_state(const Job& job);  // b s h elements: the activation between layers and stages, whole

// One all-reduce of the hidden state over the tensor group; none for a single tensor rank.
std::vector<Call> reduce_hidden(const Job& job, std::string_view label);
std::vector<Call> embedding_reduction(const Job& job);      // vocabulary-parallel embedding, forward
std::vector<Call> head_gradient_reduction(const Job& job);  // column-parallel output layer, backward
// Vocabulary-parallel cross entropy: maximum, target logit and sum of exponentials, b s fp32 each.
std::vector<Call> loss_reductions(const Job& job);

// The gradient of the tied embedding, summed over its copies on the first and the last stage; none if there is no copy.
std::vector<Call> tied_embedding_reduction(const Job& job);

Call boundary_call(Bytes message, std::string_view label);  // point to point between neighbouring stages

// fp32 where bf16 training accumulates gradients in fp32, else the training precision.
double accumulated_gradient_bytes(const Job& job);

}  // namespace weft
