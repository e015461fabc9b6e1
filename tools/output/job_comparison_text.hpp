// Compared jobs for people and for machines; and what tables of them have in common with the page.
#pragma once

#include <string>
#include <vector>

#include "tools/explain/job_comparison.hpp"
#include "tools/output/result_table.hpp"

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

}  // namespace weft
