#include "tools/output/figures.hpp"

#include <fmt/format.h>

namespace weft {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string grouped(double number) {
    std::string digits = fmt::format("{:.0f}", number);
    for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
    return digits;
}

}  // namespace weft
