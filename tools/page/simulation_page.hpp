// A simulated step as a page: figures, where the time goes, timeline, memory, communication, links, and what it was
// made from.
#pragma once

#include <string>

#include "tools/page/sources.hpp"
#include "workloads/report/report.hpp"

namespace weft {

// Links over time are there if the simulation recorded them (Recording::spans_and_links).
std::string simulation_page(const Simulation& simulation, const Report& report, const JobInput& input);

}  // namespace weft
