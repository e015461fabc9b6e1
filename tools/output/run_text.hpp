// A long run, for people and for programs; and what texts and pages of it have in common.
#pragma once

#include <string>
#include <string_view>

#include "tools/endurance/run.hpp"
#include "tools/output/job_json.hpp"
#include "tools/output/result_table.hpp"

namespace weft {

// "gpt-neox-20b on frontier: 128 ranks = tensor 4 x ... on 16 nodes, deepspeed"
std::string run_heading(const Job& job, const MachineInfo& machine);
std::string played_text(const RunResult& result);  // "1,000 runs played, seed 1"
// Whether it is time that the run spends on something, beside its steps.
bool is_part(const RunQuantity& quantity);
std::string run_cell(RunUnit unit, double value);  // "54.0 d", "99.1 %", "26.6 MWh"

TextTable run_facts(const RunResult& result);  // "restart", "detection 10.0 min, ..."
// Quantiles and means of what was played.
TextTable run_quantities(const RunResult& result, std::string_view (*label)(const RunQuantity& quantity));

std::string run_text(const Job& job, const MachineInfo& machine, const RunResult& result);
std::string run_json(const Job& job, const MachineInfo& machine, const JobRecord& record, const RunResult& result);

}  // namespace weft
