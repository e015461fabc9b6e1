// Compared jobs and steps for people and for machines; and what tables of them have in common with the pages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/explain/job_explanation.hpp"
#include "tools/output/result_table.hpp"
#include "workloads/recorded/step_comparison.hpp"

namespace weft {

// The causes that are a thousandth of the longest step in one of the jobs, and the others as one, "all else"; of each
// job they sum to its step.
std::vector<ComparedCause> cause_lines(const JobComparison& comparison);

std::string more_text(Seconds time);  // "+1.20 ms", "-3.00 us"; none: ""

// A row per key that differs; per figure; per cause, and the step.
TextTable input_table(const JobComparison& comparison);
TextTable figure_table(const JobComparison& comparison);
TextTable cause_table(const JobComparison& comparison);

std::string job_comparison_text(const JobComparison& comparison);
std::string job_comparison_json(const JobComparison& comparison);  // seconds and bytes

// A recorded step beside a simulated one.

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
