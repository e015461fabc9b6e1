// An explained job for people and for machines.
#pragma once

#include <string>

#include "tools/explain/job_explanation.hpp"
#include "tools/output/job_json.hpp"
#include "workloads/explain/rooflines.hpp"

namespace weft {

std::string explanation_text(const JobExplanation& explained);
// Seconds and bytes.
std::string explanation_json(const JobExplanation& explained, const JobRecord& record);

std::string rooflines_text(const Rooflines& rooflines);

}  // namespace weft
