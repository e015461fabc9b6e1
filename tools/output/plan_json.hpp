// A search for layouts as JSON: SI units, stable keys.
#pragma once

#include <cstddef>
#include <string>

#include "tools/output/job_json.hpp"
#include "workloads/search/plan_result.hpp"

namespace weft {

// {"weft", "job": {...} without what was searched for, "candidates": {"all", "refused", "does_not_fit", "fits",
// "simulated"}, "refusals": [{"key", "reason", "candidates"}],
//  "best": [{"job": {...}, "step": {...}, "throughput": {...}, "memory": {...}, "screened_time_s", "slower_by":
//  [...]}], "pareto": [...], "screening": {...}} and, where nothing fits, "nearest_miss".
std::string plan_json(const PlanResult& result, const JobRecord& record, std::size_t top);

}  // namespace weft
