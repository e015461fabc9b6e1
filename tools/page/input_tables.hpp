// What a simulation was made from: the job, the resolved inputs, and where their constants come from.
#pragma once

#include <string>

#include "tools/page/sources.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

std::string input_tables(const Simulation& simulation, const JobInput& input);  // HTML

}  // namespace weft
