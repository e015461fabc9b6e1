// What the scripts of a simulation's page draw: the timeline, memory over time, who talks to whom.
#pragma once

#include <span>
#include <string>

#include "sim/engine/critical_path.hpp"
#include "tools/page/timeline.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// JSON, its "timeline" as timeline_data() has it. Times are integers of nanoseconds, bytes are integers.
std::string simulation_data(const Simulation& simulation, const TimelinePart& part,
                            std::span<const PathPiece> path = {});

}  // namespace weft
