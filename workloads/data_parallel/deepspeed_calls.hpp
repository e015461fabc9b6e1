// What DeepSpeed's optimizers share: start-up broadcasts, optimizer groups, small reductions around the step.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/data_parallel/stage_tensors.hpp"

namespace weft {

inline constexpr double deepspeed_bucket_elements = 5e8;  // reduce_bucket_size, and the limit of stage 0's all-reduces

inline double deepspeed_bucket(const ShardingInput& input) {
    return input.bucket_elements > 0 ? input.bucket_elements : deepspeed_bucket_elements;
}

// A call through deepspeed.comm, which its logger sees.
Call deepspeed_call(Collective op, RankGroups group, double bytes, std::string_view label, std::string_view type);

// Writes a call that may run beside computation, or blocking where the communication logger is on: it synchronises the
// device after every call.
ActionId issue_unless_logged(Script& script, const ShardingInput& input, const Call& call, Where where);

// engine.py _broadcast_model: every tensor once, one call each.
void broadcast_parameters(Script& script, const ShardingInput& input);

// A flat run of parameters with one set of optimizer options: NeoX has one with weight decay (matrices) and one
// without (vectors); experts have their own.
struct OptimizerGroup {
    RankGroups group{};
    std::uint32_t ranks = 1;
    std::vector<std::size_t> tensors{};  // indices into stage_tensors, in registration order
    double elements = 0;
    double padded = 0;  // to a multiple of 2 ranks: shards start on 4-byte boundaries of fp16 (stage_1_and_2.py)
};
std::vector<OptimizerGroup> optimizer_groups(const ShardingInput& input);

// One all-gather per optimizer group; allgather_bucket_size is ignored where torch has all_gather_into_tensor (1.13).
// Skipped for a group of one rank.
void gather_updated_parameters(Script& script, const ShardingInput& input);

void all_reduce_overflow(Script& script, RankGroups group);       // one byte: whether any gradient is infinite
void all_reduce_gradient_norm(Script& script, RankGroups group);  // a float: the sum of squares

}  // namespace weft
