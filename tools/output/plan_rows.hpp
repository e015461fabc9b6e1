// A search for layouts as a table: every candidate with what became of it.
#pragma once

#include "tools/output/result_sqlite.hpp"
#include "tools/output/result_table.hpp"
#include "workloads/search/plan_result.hpp"

namespace weft {

// One row per candidate in the order of the search: what was chosen, the verdict, memory, screened and simulated times,
// the place among the simulated (1: the fastest), and for a refusal its reason.
ResultTable plan_rows(const PlanResult& result);

// "plan" of the job, with a hash of what the rows say.
RunRecord plan_record(const PlanResult& result);

}  // namespace weft
