// The values of a varied key as they are written. Grammar:
//   values  = value {"," value}
//   value   = range | JSON value (commas within brackets and quotation marks are part of it) | bare text
//   range   = number ".." number [("+" | "-" | "*" | "/") number]          the step is +1 if there is none
// "512..65536*2" is 512, 1024, ..., 65536; the last value is in it if the steps meet it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

inline constexpr std::size_t most_values = 1'000'000;  // of one key

// Each as an override takes it. Throws std::invalid_argument with the reason: an empty value, a bracket or quotation
// mark without its other half, a range that never ends or counts in the wrong direction.
std::vector<std::string> parse_value_list(std::string_view text);

// The pieces of `text` between commas outside brackets and quotation marks; throws as above.
std::vector<std::string_view> split_values(std::string_view text);

// The offset behind the value that begins at `begin`: that of the next comma, or the end of the text. Throws as above.
std::size_t end_of_value(std::string_view text, std::size_t begin);

// The offset behind the list, object or text of JSON that begins at `begin`; `begin` if none does. Throws as above.
std::size_t end_of_json(std::string_view text, std::size_t begin);

// Ranges of numbers: "512..65536*2", "0..10+5", "1..8", "0.5..0-0.1".

// Its numbers, at most `most`; nothing if the text is no range: it does not begin with a number and "..". Sums of
// decimals, and products of whole numbers, are exact. Throws std::invalid_argument for a range that is wrong.
std::optional<std::vector<std::string>> parse_range(std::string_view text, std::size_t most);

}  // namespace weft
