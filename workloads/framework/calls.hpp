// Calls that every framework derived from Megatron-LM's parallelism issues.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/framework/framework.hpp"
#include "workloads/script/script.hpp"

namespace weft {

struct Job;

double tokens(const Job& job);                  // of a micro-batch that a rank has: b s over those sharing sequences
bool shares_tokens(const Job& job);             // sequence parallelism among tensor ranks
bool gathers_before_routing(const Job& job);    // whether those then all route all tokens of a layer with experts
Bytes hidden_state(const Job& job);             // b s h elements: the activation between layers and stages, whole
std::string_view element_name(const Job& job);  // "fp16", ...

// The hidden state over the tensor group: summed whole; under sequence parallelism summed and dealt out by tokens, or
// gathered.
Call reduce_hidden(const Job& job, std::string_view label);
Call scatter_hidden(const Job& job, std::string_view label);
Call gather_hidden(const Job& job, std::string_view label);
// What a layer's products take, gathered in the precision that they run in: each rank casts its share first
// (TransformerEngine, module/layernorm_linear.py and module/base.py, grad_output_preprocess), where scales are of whole
// tensors after agreement on the maximum. `all`: both forms that products take it in (recipes.hpp); `saved`: kept cast.
enum class OperandForms : std::uint8_t { one, saved, all };
void gather_operand(const Job& job, std::string_view label, OperandForms forms, std::vector<Call>& calls);

// Delayed scaling: the maxima of input, weight and output of each of so many products at the end of a forward pass, and
// of both gradients at the end of a backward pass, over tensor x context x data ranks (Transformer Engine,
// FP8GlobalStateManager.reduce_and_update_fp8_tensors; Megatron-core, get_amax_reduction_group). Only where the job
// names the recipe.
std::vector<Call> reductions_of_maxima(const Job& job, std::size_t products, Pass pass);

// Vocabulary-parallel cross entropy: maximum, target logit and sum of exponentials, b s fp32 each.
std::vector<Call> loss_reductions(const Job& job);

// Of this rank's share of the sequence.
Bytes own_keys_and_values(const Job& job);
Bytes own_queries(const Job& job);

// Point to point between neighbouring stages; direction and peer are the writer's.
Call boundary_call(Bytes message, std::string_view label, std::string_view type);

// fp32 where bf16 training accumulates gradients in fp32, else the training precision.
double accumulated_gradient_bytes(const Job& job);

}  // namespace weft
