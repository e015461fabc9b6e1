// The network coloured by load: its links as cells of matrices (Wiring::matrices).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/network/link_traffic.hpp"
#include "sim/topology/link_matrix.hpp"

namespace weft {

// What the links of a cell carried one way.
struct CellTraffic {
    double busiest = 0.0;  // bytes / (bandwidth x time) of its busiest link
    Bytes bytes;           // of all of them
    std::uint32_t links = 0;
};

struct MapCell {
    std::uint32_t row = 0, column = 0;
    CellTraffic to_column{}, to_row{};
};

// The rows, or the columns, that are drawn.
struct MapSide {
    std::vector<std::string> names;  // "3", or the first and the last number where several are drawn as one
    std::uint32_t per_cell = 1;      // so many
};

struct MapMatrix {
    LinkMatrix what;
    MapSide rows, columns;
    std::vector<MapCell> cells;  // that have links, row by row; none where no link carried anything
};

inline constexpr std::uint32_t most_map_cells = 64;  // along each side of a matrix

// All matrices of the network. Rows and columns whose links carried nothing are left out (of a matrix from groups to
// groups, both of a group or none); of more than most_map_cells, neighbours are drawn as one.
std::vector<MapMatrix> fabric_map(const Topology& topology, const LinkTraffic& traffic);

}  // namespace weft
