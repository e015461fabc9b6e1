// What bounds the kernels and the calls of a rank, as tables for people.
#pragma once

#include <string>

#include "workloads/explain/rooflines.hpp"

namespace weft {

std::string rooflines_text(const Rooflines& rooflines);

}  // namespace weft
