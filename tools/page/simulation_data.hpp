// What the scripts of a simulation's page draw: the timeline, memory and links over time, who talks to whom.
#pragma once

#include <span>
#include <string>

#include "sim/engine/critical_path.hpp"
#include "tools/page/timeline_part.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// JSON. Times are integers of nanoseconds, bytes are integers; a lane is a list per property of its slices, in order:
// "gap" since the end of the slice before, "length", "label" (into "labels"), "micro" and "layer", and of exchanges
// "call" (into "calls") and "wait", the part of the gap for which it waited for others. Of a critical `path`, each
// stage has begin and length of every stretch on it, in turn ("path").
std::string simulation_data(const Simulation& simulation, const TimelinePart& part,
                            std::span<const PathPiece> path = {});

}  // namespace weft
