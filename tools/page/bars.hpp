// Bars on pages: the time of each stage, what changes save or cost, messages by size.
#pragma once

#include <string>
#include <vector>

#include "sim/base/quantity.hpp"
#include "tools/output/volume_text.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

std::string stage_bars(const Report& report);  // HTML

// What changes of a job would save or cost, as bars from the step as it is: savings to the left, the largest first.
struct TornadoBar {
    std::string name;
    Seconds step;  // with the change
};

// An SVG of a fixed width in its own coordinates, which scales with the page.
std::string tornado_svg(const std::vector<TornadoBar>& bars, Seconds own);

// Which messages a step sends, by size: a table of small bar charts.

// Calls of one rank, mean over all ranks; an operation is "tensor all_reduce".
std::vector<MessageCount> message_counts(const Simulation& simulation);

// A row per operation, a column per power of two that occurs; bars are shares of the operation's calls. HTML.
std::string message_table(const std::vector<HistogramBin>& bins);

}  // namespace weft
