#include "topologies/fabric.hpp"

#include <algorithm>

namespace weft {

bool has_background(const Fabric& fabric, std::string_view link_class) {
    return std::ranges::any_of(fabric.background,
                               [&](const auto& load) { return load.first == link_class && load.second > 0.0; });
}

std::optional<Routing> find_routing(std::string_view name) {
    if (name == "minimal") return Routing::minimal;
    if (name == "valiant") return Routing::valiant;
    if (name == "adaptive") return Routing::adaptive;
    return std::nullopt;
}

}  // namespace weft
