// The CSV file of a validation set. Its columns:
//
//   name                  of the row, unique
//   use                   fit or predict
//   measured.<quantity>   what was measured (tools/validate/quantity.hpp); an empty cell: not measured
//   note                  optional, for people
//   disturbed             optional: why the measurement is disturbed; the row is reported apart then
//   any other             a key of the job file, such as layout.tensor; an empty cell: the set's common value
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/validate/set.hpp"

namespace weft {

// Lines that begin with '#' are comments. Throws ConfigError with every mistake (20 at most) and its line.
std::vector<ValidationRow> read_set_table(const std::string& path, std::string_view text);

}  // namespace weft
