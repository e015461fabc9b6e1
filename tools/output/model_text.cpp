#include "tools/output/model_text.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace weft {
namespace {

// Three digits, as people count parameters: "8.03B", "125M".
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

}  // namespace

std::string model_text(std::string_view name, std::uint64_t parameters, std::uint64_t active) {
    const std::string also = active < parameters ? fmt::format(", {} active", short_count(active)) : "";
    return fmt::format("{} ({} parameters{})", name, short_count(parameters), also);
}

std::string model_text(const Transformer& model) {
    return model_text(model.name, parameters(model), active_parameters(model));
}

}  // namespace weft
