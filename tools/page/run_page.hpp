// A whole training run as a page: its time, goodput, energy and cost over the runs played, where time is lost, and what
// it was played with.
#pragma once

#include <string>

#include "tools/endurance/run_result.hpp"

namespace weft {

// `command` made it.
std::string run_page(const Job& job, const MachineInfo& machine, const RunResult& result, const std::string& command);

}  // namespace weft
