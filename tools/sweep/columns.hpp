// The columns of a sweep's table: the varied keys, what `weft simulate --json` tells of a step, what studies need
// besides, and why a point has no result.
#pragma once

#include <string>
#include <vector>

#include "tools/output/result_table.hpp"
#include "tools/sweep/grid.hpp"
#include "workloads/report/report.hpp"

namespace weft {

// What comes out of a point: one cell per metric column, or no cells and the reason.
struct PointResult {
    std::vector<ResultCell> metrics;
    std::string reason;
};

// The same for every point, whatever came out.
std::vector<Column> sweep_columns(const SweepGrid& grid);

std::vector<ResultCell> metric_cells(const Report& report);
std::vector<ResultCell> row_of(const SweepGrid& grid, std::size_t point, const PointResult& result);
// Whether the row of a table with these columns has a result.
bool has_result(const std::vector<ResultCell>& row);

}  // namespace weft
