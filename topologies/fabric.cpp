#include "topologies/fabric.hpp"

#include <algorithm>

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

}  // namespace weft
