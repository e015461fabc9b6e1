// Headline figures of a table of results.
#pragma once

#include <string>
#include <string_view>

#include "tools/page/sweep_page.hpp"

namespace weft {

// Summary and command, how many rows there are and have a result (`rows_name`: "points"), and the best of them, as
// HTML.
std::string result_head(const ResultPageText& text, const ResultTable& table, std::string_view rows_name);

}  // namespace weft
