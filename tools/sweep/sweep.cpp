#include "tools/sweep/sweep.hpp"

#include "tools/obstacle.hpp"
#include "tools/parallel.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

SweepRow run_point(const std::filesystem::path& job, const SweepGrid& grid, std::size_t index,
                   const SweepOptions& options) {
    SweepRow row{.point = grid.point(index), .metrics = {}, .reason = {}};
    std::vector<std::string> overrides = options.overrides;
    for (std::size_t i = 0; i < row.point.size(); ++i)
        overrides.push_back(grid.variations()[i].key + "=" + row.point[i]);
    try {
        const Study study = load_study(job, overrides);
        Plan plan = make_plan(study);
        row.reason = obstacle(plan);
        if (!row.reason.empty()) return row;
        row.metrics = make_report(simulate_step(study, std::move(plan), options.simulation)).metrics;
    } catch (const ConfigError& error) {
        row.reason = obstacle(error);
    } catch (const RangeError& error) {
        row.reason = error.what();
    }
    return row;
}

}  // namespace

std::vector<SweepRow> run_sweep(const std::filesystem::path& job, const SweepGrid& grid, const SweepOptions& options) {
    std::vector<SweepRow> rows(grid.size());
    for_each_in_parallel(
        rows.size(), options.threads, [&](std::size_t i) { rows[i] = run_point(job, grid, i, options); },
        options.progress);
    return rows;
}

}  // namespace weft
