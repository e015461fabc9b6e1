// Numbers for machines: whole ones without a fraction, others in the fewest digits that give the same value back.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace weft {

// Below 2^53, where every whole double is exact.
inline bool prints_as_integer(double value) {
    return value == std::trunc(value) && std::abs(value) < 9007199254740992.0;
}

// As a JSON value of either kind.
template <class Json>
Json number(double value) {
    return prints_as_integer(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

std::string number_text(double value);  // "12", "0.5", "1e+300"

}  // namespace weft
