// Cells of comma-separated files (RFC 4180).
#pragma once

#include <string>
#include <string_view>

namespace weft {

// In quotation marks where it has to be. What a spreadsheet would take for a formula (= + - @ before what is no number)
// gets an apostrophe in front: names come from files that somebody else may have written.
std::string csv_cell(std::string_view text);

}  // namespace weft
