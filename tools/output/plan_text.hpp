// A search for layouts, for people and for machines.
#pragma once

#include <cstddef>
#include <string>

#include "workloads/search/plan_result.hpp"

namespace weft {

// `top`: how many of the simulated are shown.
std::string plan_text(const PlanResult& result, std::size_t top);

}  // namespace weft
