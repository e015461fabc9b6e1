#include "tools/output/replay_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/base/enumerators.hpp"
#include "sim/io/units.hpp"
#include "tools/output/background_writer.hpp"
#include "tools/output/fabric_text.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/report_json.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/text_stream.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<const char*, const char*>, rank_activities> activity_names{{
    {"compute_s", "computing"},
    {"exposed_communication_s", "exposed communication"},
    {"host_s", "the host alone"},
    {"waiting_s", "waiting for other ranks"},
    {"idle_s", "nothing to do"},
}};

constexpr std::size_t rows_of_path = 8;

Json times_json(const ActivityTimes& times) {
    Json json;
    for (std::size_t i = 0; i < rank_activities; ++i) json[activity_names[i].first] = times[i].value;
    return json;
}

Json recorded_json(const RecordedTimes& recorded) {
    return {{"time_s", recorded.step ? Json(recorded.step->value) : Json()},
            {"computation_s", recorded.computation.value},
            {"communication_s", recorded.communication.value}};
}

Json kind_json(const ReplayedCalls& kind) {
    return {{"op", kind.op},
            {"group_size", kind.group_size},
            {"calls", kind.calls},
            {"bytes", kind.bytes.value},
            {"time_s", kind.time.value},
            {"by_message", calls_json(kind.by_message)}};
}

Json path_json(const PathShare& share) {
    return {{"what", share.what}, {"nodes", share.nodes}, {"time_s", share.time.value}};
}

std::string share_text(Seconds part, Seconds whole) {
    return whole > Seconds{} ? fmt::format("{:.1f} %", 100 * (part / whole)) : "";
}

}  // namespace

std::string_view activity_word(RankActivity activity) {
    return activity_names[static_cast<std::size_t>(activity)].second;
}

std::string replay_setting_text(const ReplaySummary& summary, const ReplaySetting& setting) {
    return fmt::format("{} nodes of {} ranks on {} nodes of {} ({}), network {}, computation {}", summary.nodes,
                       summary.ranks, setting.nodes, setting.machine->name, setting.library->name,
                       enumerator_name(setting.network), setting.compute);
}

std::vector<std::uint32_t> nodes_in_time(const RecordedRun& run, std::uint32_t first, std::size_t count) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t at = first; at < first + count; ++at) {
        if (nanoseconds(run.begin[at]) != nanoseconds(run.end[at])) nodes.push_back(at);
    }
    std::ranges::stable_sort(nodes, {}, [&](std::uint32_t at) { return run.begin[at]; });
    return nodes;
}

TextTable replayed_call_table(const ReplaySummary& summary) {
    TextTable table({"<of a rank", "group", "calls", "bytes put in", "time"});
    for (const ReplayedCalls& kind : summary.calls) {
        table.add({kind.op, fmt::format("{}", kind.group_size), fmt::format("{:.6g}", kind.calls), to_text(kind.bytes),
                   to_text(kind.time)});
    }
    return table;
}

TextTable replayed_path_table(const ReplaySummary& summary, std::size_t most) {
    TextTable table({"<critical path", "nodes", "time", "of the step"});
    for (std::size_t i = 0; i < std::min(most, summary.path.size()); ++i) {
        const PathShare& share = summary.path[i];
        table.add({share.what.substr(0, 60), fmt::format("{:.0f}", share.nodes), to_text(share.time),
                   share_text(share.time, summary.step)});
    }
    return table;
}

TextTable replayed_link_table(const ReplaySummary& summary) {
    TextTable links({"<links", "mean", "busiest"});
    for (const LinkReport& link : summary.links) {
        links.add({link.link_class, percent(link.utilization), percent(link.peak_utilization)});
    }
    return links;
}

std::string replay_text(const ReplaySummary& summary, const ReplaySetting& setting) {
    std::string text = replay_setting_text(summary, setting) + "\n\n";
    TextTable step({"<step", to_text(summary.step), ""});
    for (std::size_t i = 0; i < rank_activities; ++i) {
        step.add({activity_names[i].second, to_text(summary.mean[i]), share_text(summary.mean[i], summary.step)});
    }
    text += step.text();
    if (summary.recorded.step) {
        text += fmt::format("recorded  {} ({:+.1f} %)\n", to_text(*summary.recorded.step),
                            100 * (summary.step / *summary.recorded.step - 1));
    }
    if (!summary.calls.empty()) text += "\n" + replayed_call_table(summary).text();
    if (!summary.path.empty()) text += "\n" + replayed_path_table(summary, rows_of_path).text();
    if (!summary.links.empty()) text += "\n" + replayed_link_table(summary).text();
    for (const std::string& note : summary.notes) text += fmt::format("\nnote: {}\n", note);
    return text;
}

std::string replay_json(const ReplaySummary& summary, const ReplaySetting& setting, Seconds wall) {
    Json ranks = Json::array();
    for (std::size_t i = 0; i < summary.by_rank.size(); ++i) {
        Json rank{{"rank", i}, {"end_s", summary.rank_ends[i].value}};
        rank.update(times_json(summary.by_rank[i]));
        ranks.push_back(std::move(rank));
    }
    Json step{{"time_s", summary.step.value}};
    step.update(times_json(summary.mean));
    return json_text(
        {{"machine", {{"name", setting.machine->name}, {"nodes", setting.nodes}, {"library", setting.library->name}}},
         {"network", enumerator_name(setting.network)},
         {"compute", setting.compute},
         {"step", step},
         {"recorded", recorded_json(summary.recorded)},
         {"ranks", ranks},
         {"communication", json_list<Json>(summary.calls, kind_json)},
         {"critical_path", json_list<Json>(summary.path, path_json)},
         {"links", table_json(link_table(summary.links))},
         {"hottest_links", hot_links_json(summary.hottest)},
         {"notes", summary.notes},
         {"simulation",
          {{"ranks", summary.ranks},
           {"nodes", summary.nodes},
           {"events", summary.events},
           {"solves", summary.solves},
           {"wall_s", wall.value}}}});
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
