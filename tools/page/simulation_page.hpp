// A simulated step as a page: figures, where the time goes, timeline, memory, communication, links, and what it was
// made from.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tools/page/explanation_part.hpp"
#include "tools/page/inputs.hpp"
#include "tools/page/timeline.hpp"
#include "workloads/report/report.hpp"

namespace weft {

// A headline figure of a step. To add one is to add a row to those of simulation_page.cpp.
struct StepCard {
    std::string_view name;
    std::string (*figure)(const Report&);
    std::string (*note)(const Report&);  // HTML
};
std::span<const StepCard> step_cards();
std::string step_cards_html(const Report& report, std::span<const StepCard> cards = step_cards());

// Links over time are there if the simulation recorded them (Recording::spans_and_links).
// With an explanation, it comes first, and the critical path is drawn over the timeline.
std::string simulation_page(const Simulation& simulation, const Report& report, const JobInput& input,
                            const PageExplanation* explanation = nullptr, const TimelineLimits& limits = {});

}  // namespace weft
