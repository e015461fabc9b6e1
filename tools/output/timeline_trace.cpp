#include "tools/output/timeline_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/io/files.hpp"
#include "sim/io/values.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {
namespace {

class Writer {
  public:
    Writer(TraceFormat& format, const Program& program, const Timeline& timeline, const TraceOptions& options)
        : format_(format),
          program_(program),
          timeline_(timeline),
          most_slices_(options.most_slices),
          arrives_(program.exchanges.size()) {
        for (const Communication& what : program.communications) {
            bus_bytes_.push_back(what.message.value * bus_factor(what.op, what.group_size));
        }
    }

    // Returns a warning, empty if nothing was left out.
    std::string write(const Topology& topology, const TraceOptions& options) {
        const std::vector<RankClassId> shown =
            options.classes.empty() ? numbers_below<RankClassId>(program_.classes.size()) : options.classes;
        for (const RankClassId c : shown) name_class(c);
        format_.process(network_process(), "network");
        for (const RankClassId c : shown) class_slices(c);
        format_.end_slices();
        for (const CounterSeries& series : options.counters) {
            WEFT_CHECK(index(series.rank_class) < program_.classes.size(), "a counter of an unknown rank class");
            for (const auto& [at, value] : series.points)
                format_.counter(process(series.rank_class), at, series.name, series.unit, value);
        }
        utilization(topology);
        format_.commit();
        if (left_out_ == 0) return "";
        return fmt::format("the trace holds the first {} slices; {} more were left out, from the last rank classes",
                           slices_, left_out_);
    }

  private:
    // Thread numbers are unique in the whole trace and never those of a process, whose thread of equal number readers
    // take for its main one and move to the top.
    static std::size_t process(RankClassId c) { return index(c) + 1; }
    std::size_t network_process() const { return program_.classes.size() + 1; }
    std::size_t thread(RankClassId c, LaneId lane) const {
        return network_process() + index(c) * program_.lanes.size() + index(lane) + 1;
    }

    void name_class(RankClassId c) {
        const RankClass& rank_class = program_.classes[c];
        const std::string ranks = rank_class.weight == 1 ? "" : fmt::format(" ({} ranks)", rank_class.weight);
        format_.process(process(c), rank_class.name + ranks);
        const std::vector<bool> used = used_lanes(rank_class);
        for (std::size_t i = 0; i < used.size(); ++i) {
            const auto lane = LaneId(static_cast<std::uint8_t>(i));
            if (used[i]) format_.thread(process(c), thread(c, lane), lane);
        }
    }

    // Lanes that a class has something on: readers show a named lane even if it is empty.
    std::vector<bool> used_lanes(const RankClass& rank_class) const {
        std::vector<bool> used(program_.lanes.size(), false);
        for (std::uint32_t i = 0; i < rank_class.ops; ++i) {
            const auto id = OpId(rank_class.first_op + i);
            const Op& op = program_.ops[id];
            const Span& span = timeline_.spans[id];
            if (op.kind != OpKind::join && span.posted != span.end) used[index(op.lane)] = true;
        }
        return used;
    }

    void class_slices(RankClassId c) {
        const RankClass& rank_class = program_.classes[c];
        for (std::uint32_t i = 0; i < rank_class.ops; ++i) {
            const auto id = OpId(rank_class.first_op + i);
            const Op& op = program_.ops[id];
            if (op.kind == OpKind::join) continue;
            const Span& span = timeline_.spans[id];
            const std::int64_t posted = nanoseconds(span.posted), begin = nanoseconds(span.begin);
            TraceSlice slice{.process = process(c),
                             .thread = thread(c, op.lane),
                             .lane = op.lane,
                             .label = program_.labels.size(),
                             .begin = posted,
                             .end = begin,
                             .micro_batch = op.index,
                             .layer = op.part};
            write(slice);
            slice.begin = begin;
            slice.end = nanoseconds(span.end);
            if (slice.begin == slice.end) continue;
            slice.label = index(op.label);
            slice.waited = begin - posted;
            if (op.kind == OpKind::exchange) add_exchange(slice, op, span);
            write(slice);
        }
    }

    void write(const TraceSlice& slice) {
        if (slice.begin == slice.end) return;
        if (slices_ == most_slices_) {
            ++left_out_;
            return;
        }
        ++slices_;
        format_.slice(slice);
        if (slice.message == TraceSlice::Message::leaves) arrives_[slice.exchange] = true;
    }

    // A communication from one to another leaves from the lane it belongs to.
    void add_exchange(TraceSlice& slice, const Op& op, const Span& span) const {
        const CommunicationId id = program_.communication_of(op);
        const Communication& what = program_.communications[id];
        slice.communication = static_cast<std::uint32_t>(index(id));
        slice.bus_bandwidth = static_cast<std::uint64_t>(bus_bytes_[index(id)] / (span.end - span.begin).value);
        slice.exchange = op.subject;
        if (what.op != Collective::point_to_point) return;
        const bool leaves = op.lane == what.dimension && !arrives_[op.subject];
        slice.message = leaves ? TraceSlice::Message::leaves : TraceSlice::Message::arrives;
    }

    // Samples come class by class; each class ends with a zero, so that its last value is not drawn for ever.
    void utilization(const Topology& topology) {
        const auto& samples = timeline_.samples;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const LinkClassId own = samples[i].link_class;
            const auto counter = [&](Instant at, double value) {
                format_.counter(network_process(), at, topology.classes[own].name, "utilization", value);
            };
            counter(samples[i].at, double{samples[i].mean});
            if (i + 1 == samples.size() || samples[i + 1].link_class != own) counter(timeline_.end, 0.0);
        }
    }

    TraceFormat& format_;
    const Program& program_;
    const Timeline& timeline_;
    std::size_t most_slices_, slices_ = 0, left_out_ = 0;  // left_out_: last rank classes first
    std::vector<double> bus_bytes_{};                      // by communication: bus bandwidth x time
    std::vector<bool> arrives_;                            // of each exchange, whether its next slice is where it does
};

}  // namespace

std::string write_trace(const std::filesystem::path& path, const Program& program, const Timeline& timeline,
                        const Topology& topology, const TraceOptions& options) {
    const std::unique_ptr<TraceFormat> format =
        path.extension() == ".pftrace" ? perfetto_format(path, program) : chrome_format(path, program, options.title);
    return Writer(*format, program, timeline, options).write(topology, options);
}

namespace {

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
    std::map<std::uint32_t, RankClassId> classes;  // by stage
    for (RankClassId id{}; id != step.stage.end_id(); id = next(id)) classes.try_emplace(step.stage[id], id);
    return list_of<RankClassId>(classes, [](const auto& each) { return each.second; });
}

// All classes, unless they are too many for a reader: then one of each stage, since those of a stage differ little.
void write_step_trace(const Simulation& run, const std::filesystem::path& path) {
    const Job& job = run.plan.job;
    TraceOptions options{.title = fmt::format("{} on {}: {}", job.model.name, run.plan.machine.name, axes(job.layout)),
                         .counters = {}};
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
