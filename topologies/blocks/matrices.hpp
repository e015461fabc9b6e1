// Pictures that several kinds of networks have of their links.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/topology/link_matrix.hpp"

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

// Of the links of all lines along a dimension of a lattice.
inline LinkMatrix dimension_matrix(std::size_t dimension, std::uint32_t size) {
    return {.title = fmt::format("Along dimension {}", dimension + 1),
            .row = "from coordinate",
            .column = "to coordinate",
            .rows = size,
            .columns = size};
}

}  // namespace weft::blocks
