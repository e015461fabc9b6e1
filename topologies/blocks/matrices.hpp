// Pictures that several kinds of networks have of their links.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/topology/link_matrix.hpp"
#include "topologies/blocks/block.hpp"

namespace weft::blocks {

// Of a dragonfly's links: those inside a group stand on the diagonal.
inline LinkMatrix groups_matrix(std::uint32_t groups) {
    return {.title = "Between groups, and on the diagonal inside them",
            .row = "from group",
            .column = "to group",
            .rows = groups,
            .columns = groups};
}

// Of the cables from one level of switches up to the next.
inline LinkMatrix levels_matrix(std::string_view below, std::uint32_t rows, std::string_view above,
                                std::uint32_t columns) {
    return {.title = fmt::format("Between {} and {}", below, above),
            .row = std::string(below),
            .column = std::string(above),
            .rows = rows,
            .columns = columns,
            .to_column = "up",
            .to_row = "down"};
}

// Of the links of all lines along each dimension of a lattice, which have a `size`.
template <class Dimensions>
std::vector<LinkMatrix> dimension_matrices(const Dimensions& dimensions) {
    std::vector<LinkMatrix> all;
    for (const auto& dimension : dimensions) {
        all.push_back({.title = fmt::format("Along dimension {}", all.size() + 1),
                       .row = "from coordinate",
                       .column = "to coordinate",
                       .rows = dimension.size,
                       .columns = dimension.size});
    }
    return all;
}
// Of a link along dimension `d` in those.
template <class Dimensions>
MatrixPlace place_along(const Dimensions& dimensions, std::size_t d, const SwitchPair& pair) {
    return {.matrix = static_cast<std::uint32_t>(d),
            .row = dimensions[d].coordinate(pair.tail),
            .column = dimensions[d].coordinate(pair.head)};
}

}  // namespace weft::blocks
