// Cells of comma-separated files (RFC 4180).
#pragma once

#include <string>
#include <string_view>

namespace weft {

std::string csv_cell(std::string_view text);  // in quotation marks where it has to be

}  // namespace weft
