// The points of a sweep: the columns of its table, and what fills them.
#pragma once

#include <string>
#include <vector>

#include "sim/io/document.hpp"
#include "tools/output/result_table.hpp"
#include "tools/sweep/grid.hpp"
#include "tools/sweep/request.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/job/study_sources.hpp"
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

// Simulates the points of a sweep.

// Every point is an independent simulation. What points share is read only: the job's text, read once with what is set
// for all points, and the machines, models and devices that jobs name. Topologies go from one point to the next that
// runs on the same nodes and fabric. Any thread may ask.
class PointEvaluator {
  public:
    // Throws ConfigError: a job file that cannot be read. `request` must outlive this.
    explicit PointEvaluator(const SweepRequest& request);

    // `point` of the grid. The user's mistakes, and memory, are reasons.
    PointResult evaluate(std::size_t point) const;

  private:
    PointResult simulate(const Study& study) const;

    const SweepRequest& request_;
    Document job_;
    StudySources sources_;
    mutable TopologyPool topologies_;
};

}  // namespace weft
