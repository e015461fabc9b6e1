#include "topologies/route_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"

namespace weft {

std::optional<RouteChoice> find_routing(std::string_view text) {
    if (text == "minimal") return Routing::minimal;
    if (text == "ecmp") return Routing::ecmp;
    if (text == "valiant") return Routing::valiant;
    if (text == "adaptive") return Routing::adaptive;
    constexpr std::string_view seeded = "ecmp:";
    if (!text.starts_with(seeded)) return std::nullopt;
    RouteChoice choice = Routing::ecmp;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + seeded.size(), end, choice.seed);
    return error == std::errc{} && stop == end ? std::optional(choice) : std::nullopt;
}

std::string to_text(const RouteChoice& choice) {
    switch (choice.routing) {
        case Routing::minimal:
            return "minimal";
        case Routing::ecmp:
            return choice.seed == 0 ? "ecmp" : fmt::format("ecmp:{}", choice.seed);
        case Routing::valiant:
            return "valiant";
        case Routing::adaptive:
            return "adaptive";
    }
    throw LogicError("a Routing outside its enumerators");
}

std::string unknown_routing(std::string_view text) {
    const std::vector<std::string> known(routing_words.begin(), routing_words.end());
    return fmt::format("expected {}, got \"{}\"{}", fmt::join(known, ", "), text, suggestion(text, known));
}

RouteChoice read_routing(Field& section, std::string_view text) {
    const std::optional<RouteChoice> choice = find_routing(text);
    if (!choice && section.is_text("routing")) section.error("routing", unknown_routing(text));
    return choice.value_or(Routing::minimal);
}

}  // namespace weft
