// A search for layouts, for people and for machines.
#pragma once

#include <cstddef>
#include <string>

#include "workloads/search/plan_result.hpp"

namespace weft {

// "GPT-3 175B on dgx-a100: 1024 ranks on 128 nodes, megatron, 1536 sequences of 2048 tokens": what was searched for.
std::string plan_heading(const PlanResult& result);
// `top`: how many of the simulated are shown.
std::string plan_text(const PlanResult& result, std::size_t top);

}  // namespace weft
