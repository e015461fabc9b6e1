// The "fabric" section of a job file:
//
//   "fabric": { "routing": "adaptive", "placement": "scatter:4", "load": 0.1,
//               "background": { "slingshot.global": 0.3 } }
#pragma once

#include <cstdint>
#include <filesystem>

#include "sim/io/document.hpp"
#include "topologies/machine.hpp"

namespace weft {

// Records every error at its place. Paths are meant from `folder`.
Fabric read_fabric(Field section, const MachineInfo& machine, std::uint32_t nodes, const std::filesystem::path& folder);

}  // namespace weft
