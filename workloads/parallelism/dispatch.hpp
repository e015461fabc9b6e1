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
#include <string>
#include <vector>

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
void check_dispatcher(const Job& job, std::vector<JobError>& errors);

}  // namespace weft
