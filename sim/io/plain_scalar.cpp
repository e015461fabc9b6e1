#include "sim/io/plain_scalar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <system_error>

namespace weft {
namespace {

template <std::size_t Size>
bool is_one_of(std::string_view word, const std::array<std::string_view, Size>& words) {
    return std::ranges::find(words, word) != words.end();
}

constexpr std::array<std::string_view, 3> trues{"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> falses{"false", "False", "FALSE"};
constexpr std::array<std::string_view, 6> nulls{"", "~", "null", "Null", "NULL", "None"};

// Decimal, with digits grouped by "_" as Python allows; no infinity and no NaN.
std::optional<double> as_number(std::string_view word) {
    if (word.starts_with('+')) word.remove_prefix(1);
    if (word.empty() || word.find_first_not_of("0123456789.eE+-_") != std::string_view::npos) return std::nullopt;
    std::string digits(word);
    std::erase(digits, '_');
    double value = 0.0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

}  // namespace

bool add_plain_scalar(ValueTable& table, std::string_view word, std::size_t offset) {
    if (is_one_of(word, nulls)) return table.null(offset);
    if (is_one_of(word, trues)) return table.flag(true, offset);
    if (is_one_of(word, falses)) return table.flag(false, offset);
    if (const std::optional<double> number = as_number(word)) {
        return table.number(*number, fmt::format("{}", *number), offset);
    }
    return table.text(std::string(word), offset);
}

}  // namespace weft
