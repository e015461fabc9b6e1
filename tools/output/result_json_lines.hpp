// A table of results as JSON Lines: one object per row, without the keys of which it has nothing.
#pragma once

#include <string>

#include "tools/output/result_table.hpp"

namespace weft {

std::string result_json_lines(const ResultTable& table);

}  // namespace weft
