// Headline figures of a table of results.
#pragma once

#include <string>
#include <string_view>

#include "tools/page/sweep_page.hpp"

namespace weft {

// How many rows there are, and of which kinds.
struct RowsCard {
    std::string_view name;  // "points"
    std::size_t rows = 0;
    std::string note{};
};

// Summary and command, the number of rows and the best of them, as HTML.
std::string result_head(const ResultPageText& text, const ResultTable& table, const RowsCard& rows);

}  // namespace weft
