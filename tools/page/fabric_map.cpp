#include "tools/page/fabric_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace weft {
namespace {

constexpr std::uint32_t left_out = std::numeric_limits<std::uint32_t>::max();

// One side of a matrix: which of its numbers are drawn, and in which cell.
struct Numbers {
    std::vector<bool> used;
    std::vector<std::uint32_t> cell{};  // or left_out
    MapSide side{};

    void deal() {
        std::vector<std::uint32_t> drawn;
        for (std::uint32_t i = 0; i < used.size(); ++i) {
            if (used[i]) drawn.push_back(i);
        }
        const auto count = static_cast<std::uint32_t>(drawn.size());
        side.per_cell = std::max(1U, (count + most_map_cells - 1) / most_map_cells);
        cell.assign(used.size(), left_out);
        for (std::uint32_t i = 0; i < count; ++i) cell[drawn[i]] = i / side.per_cell;
        for (std::uint32_t first = 0; first < count; first += side.per_cell) {
            const std::uint32_t last = std::min(first + side.per_cell, count) - 1;
            side.names.push_back(first == last ? fmt::to_string(drawn[first])
                                               : fmt::format("{}\u2013{}", drawn[first], drawn[last]));
        }
    }
};

struct Drawing {
    LinkMatrix what;
    Numbers rows, columns;
    std::map<std::pair<std::uint32_t, std::uint32_t>, MapCell> cells{};

    explicit Drawing(LinkMatrix matrix)
        : what(std::move(matrix)), rows{std::vector<bool>(what.rows)}, columns{std::vector<bool>(what.columns)} {}

    bool joins_equals() const { return what.to_row.empty(); }
    void use(const MatrixPlace& place) {
        rows.used[place.row] = columns.used[place.column] = true;
        if (joins_equals()) rows.used[place.column] = columns.used[place.row] = true;
    }
    void add(const MatrixPlace& place, Bytes bytes, double busy) {
        const std::uint32_t row = rows.cell[place.row], column = columns.cell[place.column];
        if (row == left_out || column == left_out) return;
        MapCell& cell = cells.try_emplace({row, column}, MapCell{.row = row, .column = column}).first->second;
        CellTraffic& way = place.way == MatrixWay::to_column ? cell.to_column : cell.to_row;
        way.busiest = std::max(way.busiest, busy);
        way.bytes += bytes;
        ++way.links;
    }
    MapMatrix take() && {
        MapMatrix matrix{
            .what = std::move(what), .rows = std::move(rows.side), .columns = std::move(columns.side), .cells = {}};
        for (const auto& [where, cell] : cells) matrix.cells.push_back(cell);
        return matrix;
    }
};

}  // namespace

std::vector<MapMatrix> fabric_map(const Topology& topology, const LinkTraffic& traffic) {
    std::vector<Drawing> drawings;
    if (topology.wiring == nullptr) return {};
    for (LinkMatrix& what : topology.wiring->matrices()) drawings.emplace_back(std::move(what));
    const auto each_placed = [&](auto visit) {
        for (LinkId link{}; link != traffic.bytes.end_id(); link = next(link)) {
            if (const std::optional<MatrixPlace> place = topology.wiring->place(link)) {
                visit(link, drawings[place->matrix], *place);
            }
        }
    };
    each_placed([&](LinkId link, Drawing& drawing, const MatrixPlace& place) {
        if (traffic.bytes[link] > Bytes{}) drawing.use(place);
    });
    for (Drawing& drawing : drawings) drawing.rows.deal(), drawing.columns.deal();
    each_placed([&](LinkId link, Drawing& drawing, const MatrixPlace& place) {
        drawing.add(place, traffic.bytes[link], traffic.busy(topology, link));
    });
    std::vector<MapMatrix> map;
    for (Drawing& drawing : drawings) map.push_back(std::move(drawing).take());
    return map;
}

}  // namespace weft
