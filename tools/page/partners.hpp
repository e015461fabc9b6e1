// Who communicates with whom, as the layout has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/network/link_traffic.hpp"
#include "sim/topology/topology.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// From the ranks of a cell (row) to those of another (column), row by row, in one step.
struct PartnerBytes {
    std::string dimension;
    std::vector<double> bytes;  // cells x cells
};

struct Partners {
    std::uint32_t cells = 0;
    std::uint32_t ranks_per_cell = 1;  // consecutive ones; more than one: whole nodes
    std::vector<PartnerBytes> dimensions;
};

inline constexpr std::uint32_t most_partner_cells = 128;

// What a rank puts on the wire in a collective, laid evenly on the other members of its group; what it sends to another
// stage, on its partner there. Ranks of a stage count as their mean. Cells are ranks, or as many nodes as keep them at
// most_partner_cells.
Partners partners(const Simulation& simulation);

// The network coloured by load: its links as cells of matrices (Wiring::matrices).

// What the links of a cell carried in one direction.
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
