// A cell as text.
#pragma once

#include <string>
#include <string_view>

#include "tools/output/result_table.hpp"

namespace weft {

// As JSON has it: "null", "true", "12", "0.5", "1.0" (a whole double keeps its point), "\"text\"".
std::string cell_json(const ResultCell& cell);
// JSON's numbers, true and false; other texts as they are. cell_json() of any of these gives it back.
ResultCell cell_of_json(std::string_view text);
// For people and CSV: as in JSON, but texts bare, and nothing for nothing.
std::string cell_text(const ResultCell& cell);

}  // namespace weft
