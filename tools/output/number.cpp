#include "tools/output/number.hpp"

#include <fmt/format.h>

namespace weft {

std::string number_text(double value) {
    return prints_as_integer(value) ? fmt::to_string(static_cast<std::int64_t>(value)) : fmt::to_string(value);
}

}  // namespace weft
