#include "tools/output/step_trace.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "sim/io/atomic_file.hpp"
#include "tools/output/chrome_trace.hpp"
#include "tools/output/timeline_svg.hpp"
#include "workloads/report/memory_timeline.hpp"

namespace weft {
namespace {

std::string title(const Simulation& run) {
    return fmt::format("{} on {}: {}", run.plan.job.model.name, run.plan.machine.name, axes(run.plan.job.layout));
}

}  // namespace

void write_step_trace(const Simulation& run, const std::filesystem::path& path) {
    ChromeTraceOptions options{.title = title(run), .counters = {}};
    const auto& classes = run.step.program.classes;
    for (RankClassId id{}; id != classes.end_id(); id = next(id)) {
        CounterSeries memory{.rank_class = id, .name = "memory", .unit = "bytes", .points = {}};
        for (const MemoryPoint& point : memory_timeline(run, id))
            memory.points.push_back({point.at, point.in_use.value});
        options.counters.push_back(std::move(memory));
    }
    const std::string warning = write_chrome_trace(path, run.step.program, run.timeline, run.topology, options);
    if (!warning.empty()) fmt::print(stderr, "{}\n", warning);
}

// A row per stage: what splits a stage into classes is too small to be seen.
void write_step_picture(const Simulation& run, const std::filesystem::path& path) {
    std::vector<RankClassId> shown;
    for (RankClassId id{}; id != run.step.stage.end_id(); id = next(id)) {
        if (shown.empty() || run.step.stage[id] != run.step.stage[shown.back()]) shown.push_back(id);
    }
    if (run.step.folding == Folding::none) shown.clear();
    write_file_atomically(
        path, timeline_svg(run.step.program, run.timeline, {.title = title(run), .classes = std::move(shown)}));
}

}  // namespace weft
