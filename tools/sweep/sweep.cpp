#include "tools/sweep/sweep.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

#include "tools/obstacle.hpp"
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
    const std::size_t points = grid.size();
    std::vector<SweepRow> rows(points);
    std::atomic<std::size_t> next{0};
    std::size_t done = 0;
    std::exception_ptr failure;
    std::mutex mutex;  // guards done, failure and the calls of progress
    const auto work = [&] {
        for (std::size_t i = next++; i < points; i = next++) {
            try {
                rows[i] = run_point(job, grid, i, options);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
                next = points;
                return;
            }
            const std::lock_guard lock(mutex);
            ++done;
            if (options.progress) options.progress(done, points);
        }
    };
    std::vector<std::jthread> threads;
    for (unsigned t = 1; t < std::clamp<std::size_t>(options.threads, 1, points); ++t) threads.emplace_back(work);
    work();
    threads.clear();  // joins
    if (failure) std::rethrow_exception(failure);
    return rows;
}

}  // namespace weft
