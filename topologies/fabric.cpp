#include "topologies/fabric.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include "sim/base/enumerators.hpp"
#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"

namespace weft {

bool has_background(const Fabric& fabric, std::string_view link_class) {
    return std::ranges::any_of(fabric.background,
                               [&](const auto& load) { return load.first == link_class && load.second > 0.0; });
}

void add_load(Fabric& fabric, double share, const std::vector<std::string>& link_classes) {
    const std::vector<std::pair<std::string, double>> said = fabric.background;
    for (const std::string& name : link_classes) {
        const auto names_it = [&](const std::pair<std::string, double>& each) { return each.first == name; };
        if (std::ranges::none_of(said, names_it)) fabric.background.emplace_back(name, share);
    }
}

namespace {

constexpr std::string_view seeded = "ecmp:";

}  // namespace

std::optional<RouteChoice> find_routing(std::string_view text) {
    if (const auto routing = enumerator_called<Routing>(text)) return *routing;
    if (!text.starts_with(seeded)) return std::nullopt;
    const auto seed = parse_as<std::uint64_t>(text.substr(seeded.size()));
    return seed ? std::optional(RouteChoice{Routing::ecmp, *seed}) : std::nullopt;
}

std::string to_text(const RouteChoice& choice) {
    if (choice.routing == Routing::ecmp && choice.seed != 0) return fmt::format("{}{}", seeded, choice.seed);
    return std::string(enumerator_name(choice.routing));
}

std::string unknown_routing(std::string_view text) {
    const std::vector<std::string> known{"minimal", "ecmp", "ecmp:SEED", "valiant", "adaptive"};
    return fmt::format("expected {}, got \"{}\"{}", fmt::join(known, ", "), text, suggestion(text, known));
}

RouteChoice read_routing(Field& section, std::string_view text) {
    const std::optional<RouteChoice> choice = find_routing(text);
    if (!choice && section.is_text("routing")) section.error("routing", unknown_routing(text));
    return choice.value_or(Routing::minimal);
}

}  // namespace weft
