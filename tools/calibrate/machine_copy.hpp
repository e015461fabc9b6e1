// A machine file with other constants.
#pragma once

#include <string>
#include <string_view>

#include "topologies/calibration/calibration.hpp"

namespace weft {

// The file of the machine `name` (shipped, or a path) with the constants of one of its libraries replaced, each with
// `provenance` behind its source; comments are lost. Throws ConfigError.
std::string machine_with(std::string_view name, const Calibration& calibration, std::string_view provenance);

}  // namespace weft
