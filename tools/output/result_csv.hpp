// A table of results as comma-separated values (RFC 4180): one header line, one line per row.
#pragma once

#include <string>

#include "tools/output/result_table.hpp"

namespace weft {

// Nothing is an empty cell; numbers in the fewest digits that give the same value back.
std::string result_csv(const ResultTable& table);

}  // namespace weft
