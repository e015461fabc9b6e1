#include "tools/output/figures.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace weft {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string signed_percent_text(double ratio) { return fmt::format("{:+.1f} %", 100 * ratio); }

std::string rounded(double number) { return fmt::format("{:.0f}", number); }

std::string grouped(double number) {
    std::string digits = rounded(number);
    for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
    return digits;
}

std::string short_count(std::uint64_t count) {
    constexpr std::array<std::pair<double, std::string_view>, 4> scales{
        {{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}}};
    const auto number = static_cast<double>(count);
    for (const auto& [scale, letter] : scales) {
        if (number < 0.9995 * scale) continue;  // what rounds to 1.00 of it is of it
        const double scaled = number / scale;
        return fmt::format("{:.{}f}{}", scaled, scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0, letter);
    }
    return fmt::to_string(count);
}

std::string model_text(std::string_view name, std::uint64_t parameters, std::uint64_t active, std::uint64_t trained) {
    std::string also = active < parameters ? fmt::format(", {} active", short_count(active)) : "";
    if (trained < parameters) also += fmt::format(", {} trained", short_count(trained));
    return fmt::format("{} ({} parameters{})", name, short_count(parameters), also);
}

std::string model_text(const Transformer& model) {
    return model_text(model.name, parameters(model), active_parameters(model), parameters(model));
}

std::string method_text(const Method& method) {
    const std::string text = method.protocol.empty() ? method.algorithm : method.algorithm + ' ' + method.protocol;
    if (method.channels < 2) return text;
    return fmt::format("{}, {} channels", text, method.channels);
}

}  // namespace weft
