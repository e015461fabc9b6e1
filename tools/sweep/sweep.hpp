// Runs the points of a sweep on threads. Every point is an independent simulation; the rows come in the order of the
// grid and are the same for any number of threads.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tools/sweep/grid.hpp"
#include "workloads/report/report.hpp"

namespace weft {

struct SweepRow {
    std::vector<std::string> point;  // one value per varied key
    std::vector<Metric> metrics;     // empty if the point could not be simulated ...
    std::string reason;              // ... and why: input mistakes, or memory
};

struct SweepOptions {
    std::vector<std::string> overrides;
    SimulationOptions simulation;
    unsigned threads = 1;
    std::function<void(std::size_t done, std::size_t points)> progress;  // called from any thread, one at a time
};

std::vector<SweepRow> run_sweep(const std::filesystem::path& job, const SweepGrid& grid, const SweepOptions& options);

// One header line and one line per row: varied keys, metrics with their unit in the column name, reason.
std::string sweep_csv(const SweepGrid& grid, const std::vector<SweepRow>& rows);
// One JSON object per line.
std::string sweep_json_lines(const SweepGrid& grid, const std::vector<SweepRow>& rows);

}  // namespace weft
