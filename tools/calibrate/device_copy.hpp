// A device file with other constants.
#pragma once

#include <string>
#include <string_view>

#include "tools/calibrate/device_fit.hpp"

namespace weft {

// The file of the device `name` (shipped, or a path) with what was fitted in place of what was there, each with
// `provenance`, its standard deviation and what it replaces as its source; comments are lost. Throws ConfigError.
std::string device_with(std::string_view name, const DeviceFit& fit, std::string_view provenance);

// "fitted to 120 gemm, 16 memory rows (kernels.csv), rms error 3.1 %"
std::string provenance(const DeviceFit& fit);

}  // namespace weft
