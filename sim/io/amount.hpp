// Numbers that can be amounts of anything.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft {

// Whatever is measured is none at all or, in units of the SI, within these. Beyond them lie slips of the pen, and
// formulas that end in infinity.
inline constexpr double least_amount = 1e-30, most_amount = 1e30;
bool is_amount(double number);  // of either sign

std::string_view after_number(std::string_view text);  // all of it if no number begins it

// Whether the text would be a quantity if another number stood in it.
template <class Quantity>
bool has_unit(std::string_view text, std::optional<Quantity> (*parse)(std::string_view)) {
    return parse("1" + std::string(after_number(text))).has_value();
}

}  // namespace weft
