// PyTorch's experimental context parallelism, as torchtitan has it.
#pragma once

#include "workloads/parallelism/scheme.hpp"

namespace weft {

// Around the attention core. Attention runs in as many rounds as there are context ranks, C, of which each works on the
// keys and values of one, alike where sequences are cut in 2 C pieces (head and tail). With S the own keys and values:
//   forward   ring        C - 1 times S is passed on, each beside the round before its use
//             all_gather  once C S are gathered, beside the first round
//   backward  the same, and C times the sums of their gradients, in fp32, are passed on by ring in both: each beside
//             the round after it, the last one in the open
// pytorch/pytorch 0123248a484f, torch/distributed/tensor/experimental/_attention.py: _templated_ring_attention and
// _templated_ring_attention_backward (dkv_rotater; accum_dtype), _AllToAllRotater (all_to_all_single, all to one rank),
// _AllGatherRotater. Left out: copies into one buffer and the merging of the rounds' outputs, in fp32.
void add_torch_context(const Job& job, Pass pass, Around& around);

}  // namespace weft
