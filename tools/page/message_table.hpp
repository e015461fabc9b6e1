// Which messages a step sends, by size: a table of small bar charts.
#pragma once

#include <string>
#include <vector>

#include "tools/output/histogram.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// Calls of one rank, mean over all ranks; an operation is "tensor all_reduce".
std::vector<MessageCount> message_counts(const Simulation& simulation);

// A row per operation, a column per power of two that occurs; bars are shares of the operation's calls. HTML.
std::string message_table(const std::vector<HistogramBin>& bins);

}  // namespace weft
