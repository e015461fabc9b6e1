// A search for layouts as a page: step time against memory with the front of those that nothing beats in both, the
// candidates as a table, and why the others were refused.
#pragma once

#include <string>

#include "tools/page/sweep_page.hpp"

namespace weft {

// A row per candidate. Needs the columns "step_time_s" and "memory_peak_bytes" for the picture; what has no number in
// them is in the table only. Columns of kind key name the layout, notes say the verdict and why.
std::string plan_page(const ResultPageText& text, const ResultTable& table);

}  // namespace weft
