// The parameter tensors of a stage one by one, and what every engine does with them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "workloads/data_parallel/data_parallel.hpp"

namespace weft {

struct StageTensor {
    std::uint64_t elements = 0;
    std::uint32_t module = 0;  // index into the stage's modules
    std::uint32_t layer = 0;
    std::uint32_t chunk = 0;
    bool vector = false;
    bool expert = false;
    bool trained = true;
};

// In registration order.
std::vector<StageTensor> stage_tensors(std::span<const StageModule> modules);

// Index of the first tensor of each module, and one past the last tensor of all.
std::vector<std::size_t> first_tensors(std::span<const StageModule> modules);

// Embeddings, the output layer and the router stay in 16 bits.
bool has_narrow_products(const StageModule& module);

// The group over which a tensor's gradient is summed, and its size.
inline RankGroups group_of(const StageTensor& tensor) {
    return tensor.expert ? RankGroups{"expert_data"} : copy_axes();
}
// Those of dense tensors, and those of experts.
inline std::array<RankGroups, 2> reducing_groups() { return {copy_axes(), RankGroups{"expert_data"}}; }
constexpr std::uint32_t ranks_of(const ShardingInput& input, RankGroups group) {
    return group == RankGroups{"expert_data"} ? input.expert_ranks : input.ranks;
}

constexpr double round_up(double value, double multiple) {
    const double quotient = value / multiple;
    const auto whole = static_cast<double>(static_cast<std::uint64_t>(quotient));
    return (whole < quotient ? whole + 1 : whole) * multiple;
}

// Sums the gradients of a tied embedding over its copies on the first and the last stage; nothing if there is no copy
// or this stage has none.
void reduce_tied_embedding(Script& script, const ShardingInput& input, Through through);

// A float over each of these groups: the norm of all gradients, and before it, with fp16, whether any is infinite.
void reduce_overflow_and_norm(Script& script, const ShardingInput& input, const std::vector<RankGroups>& groups);

// The flat gradient buffers of Megatron-core's DistributedDataParallel, and their buckets.

struct MegatronBucket {
    RankGroups group{};
    std::uint32_t chunk = 0;
    double elements = 0;                 // padded where the optimizer is distributed
    std::vector<std::size_t> tensors{};  // indices into stage_tensors, in backward order
};

// Buckets in the order in which backward fills them: chunk by chunk, in each the dense buffer and then the experts'.
std::vector<MegatronBucket> megatron_buckets(const ShardingInput& input);

}  // namespace weft
