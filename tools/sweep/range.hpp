// Ranges of numbers: "512..65536*2", "0..10+5", "1..8", "0.5..0-0.1".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// Its numbers, at most `most`; nothing if the text is no range: it does not begin with a number and "..". Sums of
// decimals, and products of whole numbers, are exact. Throws std::invalid_argument for a range that is wrong.
std::optional<std::vector<std::string>> parse_range(std::string_view text, std::size_t most);

}  // namespace weft
