// What `weft run` says.
#pragma once

#include <string>

#include "tools/endurance/run_result.hpp"
#include "tools/output/job_json.hpp"

namespace weft {

std::string run_text(const Job& job, const MachineInfo& machine, const RunResult& result);
std::string run_json(const Job& job, const MachineInfo& machine, const JobRecord& record, const RunResult& result);

}  // namespace weft
