#include "tools/count_option.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace weft {

po::typed_value<std::string>* count_value(const char* value_name) {
    return po::value<std::string>()->value_name(value_name);
}

std::optional<std::uint32_t> count_option(const po::variables_map& arguments, const CountOption& option) {
    if (arguments.count(option.name) == 0) return std::nullopt;
    const std::string& text = arguments[option.name].as<std::string>();
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = error == std::errc{} && end == text.data() + text.size();
    if (read && value >= option.least && value <= option.most) return value;
    const bool bounded = option.most < std::numeric_limits<std::uint32_t>::max();
    throw po::error(fmt::format("--{}: expected a whole number of at least {}{}{}, got \"{}\"", option.name,
                                option.least, bounded ? fmt::format(" and at most {}", option.most) : "",
                                option.reason.empty() ? "" : fmt::format(" ({})", option.reason), text));
}

}  // namespace weft
