// A timeline as the script of that name draws it: slices of lanes, and how busy links are meanwhile.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "sim/engine/critical_path.hpp"
#include "tools/page/timeline_part.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// Times are integers of nanoseconds. Of each row of the part, by stage ("stages"): its name, whether it is "shown"
// from the start, and its lanes; a lane is a list per property of its slices, in order: "gap" since the end of the
// slice before, "length", "label" (into "labels"), "micro" and "layer", and of exchanges "call" (into "calls") and
// "wait", the part of the gap for which it waited for others. Of a critical `path`, each row has begin and length of
// every stretch on its stage, in turn ("path"). "links": of each class that carries something, the busiest first, the
// share of its bandwidth that is used from each time on, if the simulation recorded it.
nlohmann::ordered_json timeline_data(const Simulation& simulation, const TimelinePart& part,
                                     std::span<const PathPiece> path = {});

}  // namespace weft
