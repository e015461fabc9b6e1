// What an unquoted word of a configuration stands for.
#pragma once

#include <cstddef>
#include <string_view>

#include "sim/io/value_table.hpp"

namespace weft {

// Adds `word` to `table` as Python and YAML read it: true, false, null, a number, or else a text.
bool add_plain_scalar(ValueTable& table, std::string_view word, std::size_t offset);

}  // namespace weft
