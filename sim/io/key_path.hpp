// The value that a path of keys leads to: "tiers[1].radix", "tiers.1.radix". Internal to sim/io.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "sim/io/values.hpp"

namespace weft {

inline constexpr std::string_view override_name = "--set";  // the file of mistakes in what is assigned

// Its row, from row `from` on. Members that objects on the way lack are added, as null. Where keys hold dots, the
// longest key that an object has is meant. A text on the way, or an object that extends another, may be all that is
// written of an object (sim/io/extends): it gets the rest of the path as a key, to be followed in what it extends.
// Throws ConfigError where a path runs through a value that is no object or list.
std::size_t row_at(std::vector<Value>& values, std::size_t from, std::string_view path);

// The same within an object that is whole: texts on the way are refused.
std::size_t row_within(std::vector<Value>& values, std::size_t from, std::string_view path);

}  // namespace weft
