// What FullyShardedDataParallel wraps: each layer is a unit, what is left of a model part is the root unit. Experts
// that are sharded over another group are a unit of their own inside their layer.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/data_parallel/stage_tensors.hpp"

namespace weft {

enum class UnitKind : std::uint8_t { layer, root };

struct FsdpUnit {
    UnitKind kind{};
    GroupKind group{};        // over which parameters are sharded
    std::uint32_t ranks = 1;  // of that group
    std::uint32_t chunk = 0;
    std::uint32_t layer = 0;               // of its first module
    std::vector<std::uint32_t> modules{};  // in forward order
    // As gathered and scattered. Version 1 pads the flat parameter to a multiple of the ranks, version 2 every tensor.
    double elements = 0;
};

// In forward order of their first modules.
std::vector<FsdpUnit> fsdp_units(const ShardingInput& input);

// Whether parameters are sharded in inner groups and replicated over them.
bool hybrid_sharding(const ShardingInput& input);

}  // namespace weft
