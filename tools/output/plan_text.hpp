// A search for layouts: for people, and for programs as a table of all candidates and as JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tools/output/job_json.hpp"
#include "tools/output/result_file.hpp"
#include "tools/output/result_table.hpp"
#include "tools/plan/request.hpp"
#include "workloads/search/plan_result.hpp"

namespace weft {

// "GPT-3 175B on dgx-a100: 1024 ranks on 128 nodes, megatron, 1536 sequences of 2048 tokens": what was searched for.
std::string plan_heading(const PlanResult& result);
// "tensor 4, data 64, zero 1": what a candidate chose, by its number in PlanResult::candidates.
std::string settings_text(const PlanResult& result, std::size_t candidate);
// How many candidates were refused for what, the most frequent reason first.
ResultTable refusals_table(const PlanResult& result);
// `top`: how many of the simulated are shown.
std::string plan_text(const PlanResult& result, std::size_t top);

// One row per candidate in the order of the search: what was chosen, the verdict, memory, screened and simulated times,
// the place among the simulated (1: the fastest), and for a refusal its reason.
ResultTable plan_rows(const PlanResult& result);

// "plan" of the job, with a hash of what the rows say.
RunRecord plan_record(const PlanResult& result);

// {"weft", "job": {...} without what was searched for, "candidates": {"all", "refused", "does_not_fit", "fits",
// "simulated"}, "refusals": [{"key", "reason", "candidates"}],
//  "best": [{"job": {...}, "step": {...}, "throughput": {...}, "memory": {...}, "screened_time_s", "slower_by":
//  [...]}], "pareto": [...], "screening": {...}} and, where nothing fits, "nearest_miss".
std::string plan_json(const PlanResult& result, const JobRecord& record, std::size_t top);

// Several machines side by side.
std::string machines_text(std::span<const MachineAnswer> answers);
// {"machines": [{"machine", "gpus", "nodes", "layout": {key: value}, "step_time_s", ..., "assumptions"}]}; of a machine
// without a layout what speaks against all, as "refused".
std::string machines_json(std::span<const MachineAnswer> answers);

}  // namespace weft
