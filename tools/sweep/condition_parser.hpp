// From the text of a condition to its tree. Internal to Condition.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sweep/condition.hpp"

namespace weft {

// Parts before what they are part of. Throws std::invalid_argument: "column 7: expected ..., got ...".
std::vector<Condition::Node> parse_condition(std::string_view text, std::span<const std::string> keys);

}  // namespace weft
