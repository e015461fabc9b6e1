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

#include <string>
#include <vector>

#include "workloads/parallelism/scheme.hpp"

namespace weft {

// Before and after the experts, in one pass.
void add_dispatch(const Job& job, Pass pass, Around& around);

// Expert ranks that share a node, if all nodes have as many; else 1.
std::uint32_t expert_inner(const Job& job);

// Why the job's dispatcher cannot run in it.
void check_dispatcher(const Job& job, std::vector<JobError>& errors);

}  // namespace weft
