// The flat gradient buffers of Megatron-core's DistributedDataParallel, and their buckets.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/data_parallel/stage_tensors.hpp"

namespace weft {

struct MegatronBucket {
    RankGroups group{};
    std::uint32_t chunk = 0;
    double elements = 0;                 // padded where the optimizer is distributed
    std::vector<std::size_t> tensors{};  // indices into stage_tensors, in backward order
};

// Buckets in the order in which backward fills them: chunk by chunk, in each the dense buffer and then the experts'.
std::vector<MegatronBucket> megatron_buckets(const ShardingInput& input);

}  // namespace weft
