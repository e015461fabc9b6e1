// Files of devices and machines with other constants.
#pragma once

#include <string>
#include <string_view>

#include "tools/calibrate/device_fit.hpp"
#include "topologies/calibration/calibration.hpp"

namespace weft {

// The file of the device `name` (shipped, or a path) with what was fitted in place of what was there, each with
// `provenance`, its standard deviation and what it replaces as its source; comments are lost. Throws ConfigError.
std::string device_with(std::string_view name, const DeviceFit& fit, std::string_view provenance);

// "fitted to 120 gemm, 16 memory rows (kernels.csv), rms error 3.1 %"
std::string provenance(const DeviceFit& fit);

// A machine file with other constants.

// The file of the machine `name` (shipped, or a path) with the constants of one of its libraries replaced, each with
// `provenance` behind its source; comments are lost. Throws ConfigError.
std::string machine_with(std::string_view name, const Calibration& calibration, std::string_view provenance);

}  // namespace weft
