#include "tools/collective/sizes.hpp"

#include <fmt/format.h>

#include <boost/program_options/errors.hpp>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

namespace weft {
namespace {

constexpr double largest = 9007199254740992.0;  // 2^53: beyond, doubles are no longer all whole bytes

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view why) {
    throw boost::program_options::error(
        fmt::format("--{}: expected sizes in bytes as in 8:1G:2 or 8,64K,1M; {} \"{}\"", option, why, text));
}

std::optional<double> parse_number(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

Bytes parse_size(std::string_view text, std::string_view whole, std::string_view option) {
    std::string_view digits = text;
    for (const std::string_view unit : {"iB", "B"}) {
        if (digits.ends_with(unit)) {
            digits.remove_suffix(unit.size());
            break;
        }
    }
    double factor = 1.0;
    constexpr std::string_view prefixes = "KMGT";
    if (!digits.empty()) {
        const char last = digits.back();
        const std::size_t power = prefixes.find(last >= 'a' && last <= 'z' ? static_cast<char>(last - 32) : last);
        if (power != prefixes.npos) {
            factor = std::pow(1024.0, static_cast<double>(power + 1));
            digits.remove_suffix(1);
        }
    }
    const std::optional<double> number = parse_number(digits);
    const double bytes = number.value_or(0.0) * factor;
    if (!number || bytes < 1.0 || bytes > largest || bytes != std::trunc(bytes)) {
        refuse(option, whole, fmt::format("\"{}\" is none, in", text));
    }
    return Bytes{bytes};
}

std::vector<Bytes> parse_range(std::string_view text, std::string_view option) {
    const std::size_t first = text.find(':'), second = text.find(':', first + 1);
    const Bytes begin = parse_size(text.substr(0, first), text, option);
    const Bytes end = parse_size(text.substr(first + 1, second - first - 1), text, option);
    const std::optional<double> factor = second == text.npos ? 2.0 : parse_number(text.substr(second + 1));
    constexpr double slowest = 1.01;  // 2^53 in fewer than 4,000 sizes
    if (!factor || *factor < slowest) refuse(option, text, "the factor must be a number above 1, in");
    if (end < begin) refuse(option, text, "the last size is smaller than the first, in");
    std::vector<Bytes> sizes;
    for (double size = begin.value; size <= end.value; size *= *factor) {
        const Bytes whole{std::trunc(size)};
        if (sizes.empty() || sizes.back() < whole) sizes.push_back(whole);
    }
    return sizes;
}

}  // namespace

std::vector<Bytes> parse_sizes(std::string_view text, std::string_view option) {
    if (text.find(':') != text.npos) return parse_range(text, option);
    std::vector<Bytes> sizes;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        sizes.push_back(parse_size(text.substr(begin, comma - begin), text, option));
        begin = comma + 1;
    }
    return sizes;
}

}  // namespace weft
