// A recorded step beside a simulated one, for people and for machines.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/output/result_table.hpp"
#include "workloads/recorded/step_comparison.hpp"

namespace weft {

// The tables of the text and of the page: recorded figures with the simulated ones behind them.
TextTable work_table(const StepComparison& comparison);  // a row per class in a pass, and all of them
TextTable gap_table(const StepComparison& comparison);   // kernels, a row per cause of gaps, and the step
TextTable call_table(const StepComparison& comparison);
// The `most` longest with names of kernels of so many characters, and how long the others take.
TextTable unmatched_table(const StepComparison& comparison, std::size_t most, std::size_t longest_name);

struct StepComparisonWords {
    std::string step;               // which, on what, and beside which rank
    std::string warning;            // where they are not of the same job; empty: none
    std::vector<std::string> told;  // what no table tells
};
StepComparisonWords step_comparison_words(const StepComparison& comparison);

std::string step_comparison_text(const StepComparison& comparison);
// One object; of several traces a list of them under "traces". Seconds and bytes, pairs are [recorded, simulated].
std::string step_comparison_json(std::span<const StepComparison> comparisons);

}  // namespace weft
