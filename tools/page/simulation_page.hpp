// A simulated step as a page: figures, where the time goes, timeline, memory, communication, links, and what it was
// made from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/network/link_traffic.hpp"
#include "sim/topology/topology.hpp"
#include "tools/explain/job_explanation.hpp"
#include "tools/output/volume_text.hpp"
#include "tools/page/inputs.hpp"
#include "tools/page/timeline.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// The part of a page that says why a step takes as long as it does, and what would change it. `simulate`: the command
// that a setting is added to, "weft simulate job.json". HTML.
std::string explanation_part(const JobExplanation& explained, const std::string& simulate);

// Bars on pages: the time of each stage, messages by size.

std::string stage_bars(const Report& report);  // HTML

// What rows spend a step on: of a time its name, and `note` behind it in the legend. `colour` is a variable of
// page.css.
struct BarPart {
    std::string name, colour;
    double seconds = 0;
    std::string note{};
};
struct BarRow {
    std::string name;
    std::vector<BarPart> parts;  // the same ones in every row
    std::uint32_t ranks = 0;     // whose mean it is
};
// "all ranks": the mean of rows, in which every rank counts the same.
BarRow mean_row(const std::vector<BarRow>& rows);
// Of several rows, which are `what`, the first is the mean. HTML.
std::string time_bars(std::vector<BarRow> rows, double step, std::string_view what, std::string_view caption);

// Which messages a step sends, by size: a table of small bar charts.

// Calls of one rank, mean over all ranks; an operation is "tensor all_reduce".
std::vector<MessageCount> message_counts(const Simulation& simulation);

// A row per operation, a column per power of two that occurs; bars are shares of the operation's calls. HTML.
std::string message_table(const std::vector<HistogramBin>& bins);

// Who communicates with whom, as the layout has it.

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

// What the scripts of a simulation's page draw: the timeline, memory over time, who talks to whom, rooflines.

// JSON, its "timeline" as timeline_data() has it. Times are integers of nanoseconds, bytes are integers.
std::string simulation_data(const Simulation& simulation, const TimelinePart& part, const Explanation& explanation);

}  // namespace weft
