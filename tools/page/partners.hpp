// Who communicates with whom, as the layout has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace weft
