// Compared jobs for people and for machines.
#pragma once

#include <string>

#include "tools/explain/job_comparison.hpp"

namespace weft {

std::string job_comparison_text(const JobComparison& comparison);
std::string job_comparison_json(const JobComparison& comparison);  // seconds and bytes

}  // namespace weft
