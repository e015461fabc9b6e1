// The report for people: one screen.
#pragma once

#include <string>

#include "workloads/report/report.hpp"

namespace weft {

std::string report_text(const Report& report);

// Why a plan does not fit: per stage what it needs of what, against what the device has.
std::string memory_text(const Plan& plan);

}  // namespace weft
