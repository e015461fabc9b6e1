// The calls by which tokens come to the ranks of their experts and back, by dispatcher (models/transformer/kernels.hpp,
// Dispatch).
//
//   all_to_all        T k copies of T tokens over the expert ranks; where an expert is cut, its tensor ranks gather
//                     them. Since Megatron-core 0.13 a second call of each kind for their probabilities
//   all_gather        all tokens of expert x expert_tensor ranks, and sums dealt out again (Megatron-core,
//                     MoEAllGatherTokenDispatcher)
//   deepep, hybridep  one kernel with two levels that run at once, as messages are cut into chunks
//                     (deepseek-ai/DeepEP, csrc/kernels/legacy/internode.cu): to the rank with the same place on each
//                     node that has an expert of a token, and from there to each rank that has one:
//                       across nodes  T expected_units(nodes) rows    in nodes  T expected_units(ranks) rows
//                     of each a share stays where it is, as in every all-to-all. In 8 bits a row has a scale of 4 bytes
//                     for every 128 elements.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/job/job.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {

// Before and after the experts, in one pass.
void add_dispatch(const Job& job, Pass pass, Around& around);

// When the host waits for how many tokens each expert has, which the router decides: it needs the numbers for shapes of
// products and splits of calls, where experts take as many as come.
//   Megatron-core token_dispatcher.py  all_to_all: before the exchange (cuda_sync_point "before_ep_alltoall"), when the
//                                    permutation has been launched; up to 0.11, and where a graph has the counts
//                                    ("moe_preprocess"), for that too; up to 0.7 before it. all_gather: once it has
//                                    gathered (tokens_per_expert.cpu()). deepep, hybridep: inside the dispatch, for a
//                                    first kernel of it (DeepEP csrc/legacy/buffer.hpp, moe_recv_counter). deepep: then
//                                    for the dispatch itself, as rows are looked up by a mask whose size the host wants
//                                    (_indices_to_multihot), unless a kernel does it (experts.fused_indices)
//   torchtitan expert_parallel.py    before the exchange, for all that was launched (output_splits, non_blocking=False)
//   DeepSpeed sharded_moe.py         before its masks are made, as wide as the largest number
enum class CountsWanted : std::uint8_t {
    never,
    to_permute,
    to_send,            // the counts alone
    to_send_and_index,  // and what was sent
    to_send_in_order,   // all before
    to_compute,
};
CountsWanted counts_wanted(const Job& job);

// Expert ranks that share a node, if all nodes have as many; else 1.
std::uint32_t expert_inner(const Job& job);

// Why the job's dispatcher cannot run in it.
void check_dispatcher(const Job& job, const Refusals& refuse);

// What runs beside the all-to-alls of a job's experts, and which jobs can have it.

// The job's, or where it does not say: joint passes under a bidirectional schedule whose ranks share experts, which is
// what such a schedule is for; else nothing.
ExpertOverlap expert_overlap(const Job& job);

// Whether joint passes put the gradients of weights off until the gradient of the tokens is on its way; by default as
// DualPipe does (DeepSeek-V3, arXiv 2412.19437, figure 4), and as Megatron-core does not.
Setting delays_weight_gradients(const Job& job);

// Appends why the job cannot have the overlap that it asks for.
void check_expert_overlap(const Job& job, const Refusals& refuse);

// How unevenly experts are loaded where a run does not say it.

// Tokens of the busiest expert rank over the mean, as the job's balancing leaves it: 1 + V / sqrt(m), with the
// load of the busiest expert over the mean, less 1, measured as V, and m experts on a rank, which are taken to be busy
// independently of one another (assumption).
//   auxiliary_loss  V = 0.52     bias  V = 0.04     (MaxVio of 3B models of 64 experts trained with either: Wang et al.
//                                                   2024, 2408.15664, table 2 [from memory])
//                                                   losses of sequences or of all ranks are taken to do as well; with a
//                                                   bias beside a loss the bias counts
//   even            V = 0        forced, as benchmarks do, or taken to be
double usual_imbalance(const Job& job);

// What follows from balancing, layout and model: the imbalance where it is assumed, and that of each layer where tokens
// of experts are given: of ranks that hold equal runs of them, the busiest decides. Prediction modules that are not
// among the layers have the mean.
void settle_imbalance(Job& job);

// Appends why layers' imbalances do not fit the model.
void check_imbalance(const Job& job, const Refusals& refuse);

// What is assumed, for people; empty where the job says it.
std::string imbalance_assumption(const Job& job);

// What ranks tell one another to keep experts evenly loaded.

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

void check_balancing(const Job& job, const Refusals& refuse);

}  // namespace weft
