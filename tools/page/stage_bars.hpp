// Where the time of each stage goes: a bar per stage, and the same as a table.
#pragma once

#include <string>

#include "workloads/report/report.hpp"

namespace weft {

std::string stage_bars(const Report& report);  // HTML

}  // namespace weft
