// The rooflines of device and fabric on a page: a picture of kernel classes under their roofs, and tables.
#pragma once

#include <string>

#include "workloads/explain/rooflines.hpp"

namespace weft {

// Log-log: FLOP/s by FLOP/B, a dot per class of kernels with products, as large as its time. Empty without such.
std::string roofline_svg(const DeviceRoofline& device);
std::string rooflines_part(const Rooflines& rooflines);

}  // namespace weft
