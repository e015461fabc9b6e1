// Which keys of a table tell its rows apart, where some stay as they are and some go in step with others.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/output/result_table.hpp"

namespace weft {

// Columns of kind key that have several values and do not follow from another one, as "layout.tensor" does from a
// "scheme" that it was zipped with; of those that go in step the first. All keys where none is left: a single row.
std::vector<std::size_t> telling_keys(const ResultTable& table);

}  // namespace weft
