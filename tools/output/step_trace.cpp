#include "tools/output/step_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "sim/io/files.hpp"
#include "tools/output/chrome_trace.hpp"
#include "tools/output/timeline_svg.hpp"

namespace weft {
namespace {

std::string title(const Simulation& run) {
    return fmt::format("{} on {}: {}", run.plan.job.model.name, run.plan.machine.name, axes(run.plan.job.layout));
}

}  // namespace

std::vector<RankClassId> first_classes(const Step& step) {
    std::vector<RankClassId> classes;
    std::vector<bool> seen;
    for (RankClassId id{}; id != step.stage.end_id(); id = next(id)) {
        const std::uint32_t stage = step.stage[id];
        if (stage >= seen.size()) seen.resize(stage + 1, false);
        if (!seen[stage]) classes.push_back(id);
        seen[stage] = true;
    }
    std::ranges::sort(classes, {}, [&](RankClassId id) { return step.stage[id]; });
    return classes;
}

// All classes, unless they are too many for a reader: then one of each stage, since those of a stage differ little.
void write_step_trace(const Simulation& run, const std::filesystem::path& path) {
    ChromeTraceOptions options{.title = title(run), .counters = {}};
    const Program& program = run.step.program;
    if (program.ops.size() > options.most_slices) options.classes = first_classes(run.step);
    const bool is_part = !options.classes.empty() && options.classes.size() < program.classes.size();
    for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) {
        if (is_part && std::ranges::find(options.classes, id) == options.classes.end()) continue;
        CounterSeries memory{.rank_class = id, .name = "memory", .unit = "bytes", .points = {}};
        for (const MemoryPoint& point : memory_timeline(run, id))
            memory.points.push_back({point.at, point.in_use.value});
        options.counters.push_back(std::move(memory));
    }
    const std::string warning = write_chrome_trace(path, program, run.timeline, run.topology(), options);
    if (is_part) {
        fmt::print(stderr, "the trace shows {} of {} rank classes, one of each stage\n", options.classes.size(),
                   program.classes.size());
    }
    if (!warning.empty()) fmt::print(stderr, "{}\n", warning);
}

// A row per stage: what splits a stage into classes is too small to be seen.
void write_step_picture(const Simulation& run, const std::filesystem::path& path) {
    std::vector<RankClassId> shown = first_classes(run.step);
    if (run.step.folding == Folding::none) shown.clear();
    write_file_atomically(
        path, timeline_svg(run.step.program, run.timeline, {.title = title(run), .classes = std::move(shown)}));
}

}  // namespace weft
