// The degrees of parallelism of a torchtitan configuration.
#pragma once

#include <cstdint>

#include "workloads/formats/format.hpp"

namespace weft {

struct TorchtitanDegrees {
    double replicas = 1, shards = 0;  // data ranks; 0: not known
    std::uint32_t pipeline = 1;
};

// Gives the job its layout, schedule and what FSDP shards. `layers`: of the model; 0: not known.
TorchtitanDegrees read_torchtitan_degrees(Import& import, Field& root, const FormatOptions& options,
                                          std::uint32_t layers);

}  // namespace weft
