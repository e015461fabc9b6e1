// The links between the switches of a machine, listed one by one as the files of the network blocks number them: slow,
// and free of the arithmetic that finds one by its number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace weft::testing_support {

struct ListedLink {
    std::uint32_t tail = 0, head = 0;  // switches
    std::string link_class;
    bool operator==(const ListedLink&) const = default;
};
using ListedLinks = std::vector<ListedLink>;

inline void list_cable(ListedLinks& links, std::uint32_t a, std::uint32_t b, const std::string& link_class) {
    links.push_back({a, b, link_class});
    links.push_back({b, a, link_class});
}

// Bundles between groups: `gateway` is where cable k from g to h is plugged into group g.
template <class Gateway>
void list_bundles(ListedLinks& links, std::uint32_t groups, const nlohmann::json& network, Gateway gateway) {
    const std::uint32_t cables = network["global_links"];
    for (std::uint32_t g = 0; g < groups; ++g) {
        for (std::uint32_t h = 0; h < groups; ++h) {
            for (std::uint32_t k = 0; k < cables && g != h; ++k) {
                links.push_back({gateway(g, (h + groups - g - 1) % groups * cables + k),
                                 gateway(h, (g + groups - h - 1) % groups * cables + k), network["global"]});
            }
        }
    }
}

inline std::uint32_t groups_of(const nlohmann::json& network, std::uint32_t nodes, std::uint32_t all_nodes) {
    const std::uint32_t per_group = network["nodes_per_group"];
    return nodes <= per_group ? 1 : (all_nodes + per_group - 1) / per_group;
}

inline ListedLinks list_dragonfly(const nlohmann::json& network, std::uint32_t nodes, std::uint32_t all_nodes) {
    const std::uint32_t groups = groups_of(network, nodes, all_nodes), size = network["switches_per_group"];
    ListedLinks links;
    for (std::uint32_t g = 0; g < groups; ++g) {
        for (std::uint32_t i = 0; i < size; ++i) {
            for (std::uint32_t j = 0; j < size; ++j) {
                if (i != j) links.push_back({g * size + i, g * size + j, network["local"]});
            }
        }
    }
    list_bundles(links, groups, network, [&](std::uint32_t g, std::uint32_t port) { return g * size + port % size; });
    return links;
}

inline ListedLinks list_dragonfly_plus(const nlohmann::json& network, std::uint32_t nodes, std::uint32_t all_nodes) {
    const std::uint32_t groups = groups_of(network, nodes, all_nodes), spines = network["spines_per_group"];
    const std::uint32_t per_leaf = network["nodes_per_leaf"], per_group = network["nodes_per_group"];
    const std::uint32_t leaves =
        (std::min(nodes, per_group) + per_leaf - 1) / per_leaf * network["rails"].get<std::uint32_t>();
    const std::uint32_t size = leaves + spines;
    ListedLinks links;
    for (std::uint32_t g = 0; g < groups; ++g) {
        for (std::uint32_t i = 0; i < leaves; ++i) {
            for (std::uint32_t j = 0; j < spines; ++j) {
                for (std::uint32_t k = 0; k < network.value("cables", 1U); ++k) {
                    list_cable(links, g * size + i, g * size + leaves + j, network["local"]);
                }
            }
        }
    }
    list_bundles(links, groups, network,
                 [&](std::uint32_t g, std::uint32_t port) { return g * size + leaves + port % spines; });
    return links;
}

inline ListedLinks list_fat_tree(const nlohmann::json& network, std::uint32_t nodes, std::uint32_t /*all_nodes*/) {
    const auto divide_up = [](std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; };
    const std::uint32_t units = divide_up(nodes, network["nodes_per_leaf"]);
    const bool by_rail = network.value("leaf_order", "unit") == "rail";
    const std::uint32_t block = by_rail ? std::min(units, network["levels"][0]["children"].get<std::uint32_t>()) : 1;
    std::uint32_t high = divide_up(units, block) * block * network.value("rails", 1U), low = 1, first = 0;
    ListedLinks links;
    bool lowest = true;
    for (const nlohmann::json& level : network["levels"]) {
        if (high == 1) break;
        const std::uint32_t children = lowest && by_rail ? block : level["children"].get<std::uint32_t>();
        const std::uint32_t parents = level["parents"], above = first + high * low;
        for (std::uint32_t h = 0; h < high; ++h) {
            for (std::uint32_t w = 0; w < low; ++w) {
                for (std::uint32_t d = 0; d < parents; ++d) {
                    for (std::uint32_t k = 0; k < level.value("cables", 1U); ++k) {
                        list_cable(links, first + h * low + w, above + h / children * (low * parents) + w * parents + d,
                                   level["link"]);
                    }
                }
            }
        }
        first = above;
        high = divide_up(high, children);
        low *= parents;
        lowest = false;
    }
    return links;
}

inline ListedLinks list_torus(const nlohmann::json& network, std::uint32_t nodes, std::uint32_t /*all_nodes*/) {
    ListedLinks links;
    const std::vector<std::uint32_t> sizes = network["dimensions"];
    std::uint32_t positions = 1, stride = 1;
    for (const std::uint32_t size : sizes) positions *= size;
    for (std::size_t d = 0; d < sizes.size() && nodes > 1; stride *= sizes[d++]) {
        const bool wraps = !network.contains("wrap") || network["wrap"][d].get<bool>();
        for (std::uint32_t start = 0; start < positions; ++start) {
            if (start / stride % sizes[d] != 0) continue;  // no line begins here
            for (std::uint32_t i = 0; i < (wraps ? sizes[d] : sizes[d] - 1) && sizes[d] > 1; ++i) {
                list_cable(links, start + i * stride, start + (i + 1) % sizes[d] * stride, network["link"]);
            }
        }
    }
    return links;
}

// Of the first `nodes` nodes of the machine that a file describes.
inline ListedLinks listed_links(const nlohmann::json& machine, std::uint32_t nodes) {
    using Lister = std::function<ListedLinks(const nlohmann::json&, std::uint32_t, std::uint32_t)>;
    const std::map<std::string, Lister> listers{{"dragonfly", list_dragonfly},
                                                {"dragonfly_plus", list_dragonfly_plus},
                                                {"fat_tree", list_fat_tree},
                                                {"torus", list_torus}};
    const nlohmann::json& network = machine["network"];
    return listers.at(network["kind"])(network, nodes, machine["nodes"]);
}

}  // namespace weft::testing_support
