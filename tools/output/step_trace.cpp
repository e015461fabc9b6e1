
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "sim/io/files.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/text_stream.hpp"
#include "tools/output/timeline_svg.hpp"
#include "tools/output/timeline_trace.hpp"

namespace weft {
namespace {

std::string title(const Simulation& run) {
    return fmt::format("{} on {}: {}", run.plan.job.model.name, run.plan.machine.name, axes(run.plan.job.layout));
}

std::string_view called(const RecordedNode& node, const RecordedProgram& program) {
    if (node.kind == RecordedKind::collective) return name(node.op);
    if (node.kind == RecordedKind::send) return "send";
    return node.kind == RecordedKind::receive ? "receive" : std::string_view(program.names[node.name]);
}

void add_rank(TextStream& out, std::size_t rank, const RecordedProgram& program, const Meetings& meetings,
              const RecordedRun& run) {
    const RecordedRank& own = program.ranks[rank];
    const std::uint32_t first = meetings.first_node[rank];
    std::vector<Instant> calls_over;  // of each thread of communication, its last call
    const auto thread_name = [&](std::size_t thread, std::string_view text) {
        out.format(",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}}", rank,
                   thread, json_string(text));
    };
    out.format("{}{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":\"rank {}\"}}}}",
               rank == 0 ? "" : ",\n", rank, rank);
    for (std::size_t unit = 0; unit < own.units.size(); ++unit) thread_name(unit, own.units[unit].name);
    for (const std::uint32_t at : nodes_in_time(run, first, own.nodes.size())) {
        const RecordedNode& node = own.nodes[at - first];
        const bool computes = node.kind == RecordedKind::compute;
        std::size_t thread = node.unit;
        if (!computes) {
            const auto free = std::ranges::find_if(calls_over, [&](Instant over) { return over <= run.begin[at]; });
            const auto call = static_cast<std::size_t>(free - calls_over.begin());
            calls_over.resize(std::max(calls_over.size(), call + 1));
            calls_over[call] = run.end[at];
            thread = own.units.size() + call;
        }
        out.format(",\n{{\"ph\":\"X\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":", json_string(called(node, program)),
                   rank, thread);
        put_time(out, nanoseconds(run.begin[at])).put(",\"dur\":");
        put_time(out, nanoseconds(run.end[at]) - nanoseconds(run.begin[at]));
        if (!computes) out.format(",\"args\":{{\"bytes\":{:.0f}}}", node.bytes.value);
        out.put("}");
    }
    for (std::size_t call = 0; call < calls_over.size(); ++call) thread_name(own.units.size() + call, "communication");
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
    TraceOptions options{.title = title(run), .counters = {}};
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
    const std::string warning = write_trace(path, program, run.timeline, run.topology(), options);
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

std::vector<std::uint32_t> nodes_in_time(const RecordedRun& run, std::uint32_t first, std::size_t count) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t at = first; at < first + count; ++at) {
        if (nanoseconds(run.begin[at]) != nanoseconds(run.end[at])) nodes.push_back(at);
    }
    std::ranges::stable_sort(nodes, {}, [&](std::uint32_t at) { return run.begin[at]; });
    return nodes;
}

void write_replay_trace(const std::filesystem::path& path, const RecordedProgram& program, const Meetings& meetings,
                        const RecordedRun& run) {
    TextStream out(path);
    out.put("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) add_rank(out, rank, program, meetings, run);
    out.put("\n]}\n").commit();
}

}  // namespace weft
