#include "tools/output/replay_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/output/background_writer.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/text_stream.hpp"

namespace weft {

std::vector<std::uint32_t> nodes_in_time(const RecordedRun& run, std::uint32_t first, std::size_t count) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t at = first; at < first + count; ++at) {
        if (nanoseconds(run.begin[at]) != nanoseconds(run.end[at])) nodes.push_back(at);
    }
    std::ranges::stable_sort(nodes, {}, [&](std::uint32_t at) { return run.begin[at]; });
    return nodes;
}

namespace {

// Where things are that a rank does at once: its units, then threads for communication, as many as go on together.
class RankThreads {
  public:
    explicit RankThreads(std::size_t units) : units_(units) {}

    std::size_t free_at(Instant begin, Instant end) {
        const auto found = std::ranges::find_if(over_, [begin](Instant over) { return over <= begin; });
        const auto number = static_cast<std::size_t>(found - over_.begin());
        if (found == over_.end()) over_.emplace_back();
        over_[number] = end;
        return units_ + number;
    }
    std::size_t calls() const { return over_.size(); }

  private:
    std::size_t units_;
    std::vector<Instant> over_;
};

std::string_view called(const RecordedNode& node, const RecordedProgram& program) {
    if (node.kind == RecordedKind::collective) return name(node.op);
    if (node.kind == RecordedKind::send) return "send";
    return node.kind == RecordedKind::receive ? "receive" : std::string_view(program.names[node.name]);
}

void add_rank(TextStream& out, std::size_t rank, const RecordedProgram& program, const Meetings& meetings,
              const RecordedRun& run) {
    const RecordedRank& own = program.ranks[rank];
    const std::uint32_t first = meetings.first_node[rank];
    RankThreads threads(own.units.size());
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
        const std::size_t thread = computes ? node.unit : threads.free_at(run.begin[at], run.end[at]);
        out.format(",\n{{\"ph\":\"X\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":", json_string(called(node, program)),
                   rank, thread);
        put_time(out, nanoseconds(run.begin[at])).put(",\"dur\":");
        put_time(out, nanoseconds(run.end[at]) - nanoseconds(run.begin[at]));
        if (!computes) out.format(",\"args\":{{\"bytes\":{:.0f}}}", node.bytes.value);
        out.put("}");
    }
    for (std::size_t call = 0; call < threads.calls(); ++call) thread_name(own.units.size() + call, "communication");
}

}  // namespace

void write_replay_trace(const std::filesystem::path& path, const RecordedProgram& program, const Meetings& meetings,
                        const RecordedRun& run) {
    BackgroundWriter file(path);
    TextStream out([&file](std::string block) { return file.exchange(std::move(block)); });
    out.put("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) add_rank(out, rank, program, meetings, run);
    out.put("\n]}\n").flush();
    file.commit();
}

}  // namespace weft
