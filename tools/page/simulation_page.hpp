// A simulated step as a page: figures, where the time goes, timeline, memory, communication, links, and what it was
// made from.
#pragma once

#include <string>

#include "tools/page/explanation_part.hpp"
#include "tools/page/sources.hpp"
#include "tools/page/timeline_part.hpp"
#include "workloads/report/report.hpp"

namespace weft {

// Links over time are there if the simulation recorded them (Recording::spans_and_links).
// With an explanation, it comes first, and the critical path is drawn over the timeline.
std::string simulation_page(const Simulation& simulation, const Report& report, const JobInput& input,
                            const PageExplanation* explanation = nullptr, const TimelineLimits& limits = {});

}  // namespace weft
