// A simulated step as a page: figures, where the time goes, timeline, memory, communication, links, and what it was
// made from.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/explain/job_explanation.hpp"
#include "tools/output/volume_text.hpp"
#include "tools/page/inputs.hpp"
#include "tools/page/timeline.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// The part of a page that says why a step takes as long as it does, and what would change it.

// What a page tells of it. Without simulated changes, of the critical path alone.
struct PageExplanation {
    const Explanation& explanation;
    std::span<const ExplainedKnob> knobs{};
    std::span<const ExplainedSetting> settings{};
    std::string command;  // "weft simulate job.json": what a setting is added to
};

std::string explanation_part(const PageExplanation& page);  // HTML

// Bars on pages: the time of each stage, messages by size.

std::string stage_bars(const Report& report);  // HTML

// What rows spend a step on: of a time its name, and `note` behind it in the legend. `colour` is a variable of
// page.css.
struct BarPart {
    std::string name, colour;
    double seconds = 0;
    std::string note{};
};
struct BarRow {
    std::string name;
    std::vector<BarPart> parts;  // the same ones in every row
};
// Of several rows, which are `what`, the first is the mean. HTML.
std::string time_bars(std::vector<BarRow> rows, double step, std::string_view what, std::string_view caption);

// Which messages a step sends, by size: a table of small bar charts.

// Calls of one rank, mean over all ranks; an operation is "tensor all_reduce".
std::vector<MessageCount> message_counts(const Simulation& simulation);

// A row per operation, a column per power of two that occurs; bars are shares of the operation's calls. HTML.
std::string message_table(const std::vector<HistogramBin>& bins);

// What the scripts of a simulation's page draw: the timeline, memory over time, who talks to whom, rooflines.

// JSON, its "timeline" as timeline_data() has it. Times are integers of nanoseconds, bytes are integers.
std::string simulation_data(const Simulation& simulation, const TimelinePart& part, const Explanation& explanation);

// Links over time are there if the simulation recorded them (Recording::spans_and_links).
// The explanation comes first, and the critical path is drawn over the timeline.
std::string simulation_page(const Simulation& simulation, const Report& report, const JobInput& input,
                            const PageExplanation& explanation);

}  // namespace weft
