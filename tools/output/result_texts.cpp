#include "tools/output/result_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/base/enumerators.hpp"
#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/report_text.hpp"
#include "topologies/placement.hpp"
#include "topologies/vertex_names.hpp"

namespace weft {
namespace {

// The links of a class where jobs meet, together.
struct MeetingClass {
    std::string name;
    std::uint32_t links = 0;
    std::vector<Bytes> bytes;  // of each job
    double busiest = 0.0;
};

std::vector<MeetingClass> meeting_classes(const Sharing& sharing) {
    std::vector<MeetingClass> classes;
    for (const SharedLink& link : sharing.links) {
        const std::string& name = sharing.topology.link(link.link).name;
        auto known = std::ranges::find(classes, name, &MeetingClass::name);
        if (known == classes.end()) {
            known = classes.insert(classes.end(), {name, 0, std::vector<Bytes>(link.bytes.size()), 0.0});
        }
        ++known->links;
        for (std::size_t i = 0; i < link.bytes.size(); ++i) known->bytes[i] += link.bytes[i];
        known->busiest = std::max(known->busiest, link.busy);
    }
    return classes;
}

std::span<const SharedLink> busiest(const Sharing& sharing, std::uint32_t links) {
    return std::span(sharing.links).first(std::min<std::size_t>(links, sharing.links.size()));
}

std::string nodes_text(const PlacedReport& job) {
    constexpr std::size_t widest = 24;
    std::string ranges = node_ranges(job.nodes);
    return ranges.size() <= widest ? ranges : fmt::format("{} nodes", job.nodes.size());
}

std::vector<std::string> headings(const Sharing& sharing, std::vector<std::string> first, const char* last) {
    for (const PlacedReport& job : sharing.jobs) first.push_back(job.name);
    first.emplace_back(last);
    return first;
}

void add_row(TextTable& table, std::vector<std::string> cells, std::span<const Bytes> bytes, double busy) {
    for (const Bytes each : bytes) cells.push_back(each == Bytes{} ? "" : to_text(each));
    cells.push_back(percent(busy));
    table.add(std::move(cells));
}

Json step_json(const PlacedStep& step) {
    return {{"step_s", step.time.value},
            {"compute_s", step.compute.value},
            {"exposed_communication_s", step.exposed.value}};
}

Json bytes_json(std::span<const Bytes> bytes) {
    return json_list<Json>(bytes, [](Bytes each) { return each.value; });
}

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

}  // namespace

TextTable sharing_jobs(const Sharing& sharing) {
    TextTable table({"<", "nodes", "ranks", "steps", "alone", "together", "slower", "exposed alone", "together"});
    for (const PlacedReport& job : sharing.jobs) {
        table.add({job.name, nodes_text(job), grouped(job.ranks), grouped(job.steps), to_text(job.alone.time),
                   to_text(job.together.time), percent(job.slowdown() - 1), to_text(job.alone.exposed),
                   to_text(job.together.exposed)});
    }
    return table;
}

TextTable meeting_classes_table(const Sharing& sharing) {
    TextTable classes(headings(sharing, {"<they meet on", "links"}, "busiest"));
    for (const MeetingClass& each : meeting_classes(sharing)) {
        add_row(classes, {each.name, grouped(each.links)}, each.bytes, each.busiest);
    }
    return classes;
}

TextTable meeting_links_table(const Sharing& sharing, std::uint32_t links) {
    TextTable table(headings(sharing, {"<busiest of these links", "<"}, "busy"));
    const VertexNames names(sharing.topology);
    for (const SharedLink& each : busiest(sharing, links)) {
        const LinkEnds ends = sharing.topology.ends(each.link);
        add_row(table,
                {fmt::format("{} -> {}", names[ends.tail], names[ends.head]), sharing.topology.link(each.link).name},
                each.bytes, each.busy);
    }
    return table;
}

std::string sharing_heading(const Sharing& sharing) {
    const auto nodes = sum_of<std::size_t>(sharing.jobs, [](const PlacedReport& job) { return job.nodes.size(); });
    return fmt::format("{} jobs on {} nodes of {}; together: steps from {} to {}, while all run", sharing.jobs.size(),
                       grouped(static_cast<double>(nodes)), sharing.topology.name, to_text(sharing.begin),
                       to_text(sharing.end));
}

std::string sharing_text(const Sharing& sharing, std::uint32_t links) {
    const std::string heading = fmt::format("{}\n\n{}\n", sharing_heading(sharing), sharing_jobs(sharing).text());
    if (sharing.links.empty()) return heading + "no two of them use the same link\n";
    return heading + meeting_classes_table(sharing).text() +
           (links > 0 ? "\n" + meeting_links_table(sharing, links).text() : "");
}

std::string sharing_json(const Sharing& sharing, std::uint32_t links, Seconds wall) {
    const VertexNames names(sharing.topology);
    Json json{{"machine", sharing.topology.name},
              {"window", {{"begin_s", sharing.begin.value}, {"end_s", sharing.end.value}}}};
    json["jobs"] = json_list<Json>(sharing.jobs, [](const PlacedReport& job) {
        return Json{{"name", job.name},
                    {"nodes", job.nodes},
                    {"ranks", job.ranks},
                    {"start_s", job.start.value},
                    {"steps", job.steps},
                    {"alone", step_json(job.alone)},
                    {"together", step_json(job.together)},
                    {"slowdown", job.slowdown()}};
    });
    json["meetings"] = json_list<Json>(meeting_classes(sharing), [](const MeetingClass& each) {
        return Json{
            {"class", each.name}, {"links", each.links}, {"bytes", bytes_json(each.bytes)}, {"busiest", each.busiest}};
    });
    json["links"] = json_list<Json>(busiest(sharing, links), [&](const SharedLink& each) {
        const LinkEnds ends = sharing.topology.ends(each.link);
        return Json{{"class", sharing.topology.link(each.link).name},
                    {"from", names[ends.tail]},
                    {"to", names[ends.head]},
                    {"bytes", bytes_json(each.bytes)},
                    {"busy", each.busy}};
    });
    json["simulation"] = {
        {"classes", sharing.program.classes.size()}, {"events", sharing.timeline.events}, {"wall_s", wall.value}};
    return json_text(json);
}

std::string_view activity_word(RankActivity activity) {
    return activity_names[static_cast<std::size_t>(activity)].second;
}

std::string replay_setting_text(const ReplaySummary& summary, const ReplaySetting& setting) {
    return fmt::format("{} nodes of {} ranks on {} nodes of {} ({}), network {}, computation {}", summary.nodes,
                       summary.ranks, setting.nodes, setting.machine->name, setting.library->name,
                       enumerator_name(setting.network), setting.compute);
}

ResultTable replayed_call_table(const ReplaySummary& summary) {
    using Row = ReplayedCalls;
    return table_of<Row>(summary.calls, {{"op", "<of a rank", &Row::op},
                                         {"group_size", "group", &Row::group_size},
                                         {"calls", "calls", as<Figure<significant<6>>>(&Row::calls)},
                                         {"bytes", "bytes put in", &Row::bytes},
                                         {"time_s", "time", &Row::time}});
}

ResultTable replayed_path_table(const ReplaySummary& summary, std::size_t most) {
    using Row = PathShare;
    const auto share = [&](const Row& row) {
        return summary.step > Seconds{} ? std::optional(Share{row.time / summary.step}) : std::nullopt;
    };
    return table_of<Row>(std::span(summary.path).first(std::min(most, summary.path.size())),
                         {{"", "<critical path", [](const Row& row) { return row.what.substr(0, 60); }},
                          {"what", {}, &Row::what},
                          {"nodes", "nodes", as<Figure<rounded>>(&Row::nodes)},
                          {"time_s", "time", &Row::time},
                          {"", "of the step", share}});
}

std::string replay_text(const ReplaySummary& summary, const ReplaySetting& setting) {
    std::string text = replay_setting_text(summary, setting) + "\n\n";
    TextTable step({"<step", to_text(summary.step), ""});
    for (std::size_t i = 0; i < rank_activities; ++i) {
        step.add({activity_names[i].second, to_text(summary.mean[i]),
                  summary.step > Seconds{} ? percent(summary.mean[i] / summary.step) : ""});
    }
    text += step.text();
    if (summary.recorded.step) {
        text += fmt::format("recorded  {} ({:+.1f} %)\n", to_text(*summary.recorded.step),
                            100 * (summary.step / *summary.recorded.step - 1));
    }
    if (!summary.calls.empty()) text += "\n" + table_text(replayed_call_table(summary));
    if (!summary.path.empty()) text += "\n" + table_text(replayed_path_table(summary, rows_of_path));
    if (!summary.links.empty()) text += "\n" + table_text(link_table(summary.links));
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
    Json calls = table_json(replayed_call_table(summary));
    for (std::size_t i = 0; i < summary.calls.size(); ++i) {
        calls[i]["by_message"] = calls_json(summary.calls[i].by_message);
    }
    const RecordedTimes& recorded = summary.recorded;
    Json step{{"time_s", summary.step.value}};
    step.update(times_json(summary.mean));
    return json_text(
        {{"machine", {{"name", setting.machine->name}, {"nodes", setting.nodes}, {"library", setting.library->name}}},
         {"network", enumerator_name(setting.network)},
         {"compute", setting.compute},
         {"step", step},
         {"recorded",
          {{"time_s", recorded.step ? Json(recorded.step->value) : Json()},
           {"computation_s", recorded.computation.value},
           {"communication_s", recorded.communication.value}}},
         {"ranks", ranks},
         {"communication", calls},
         {"critical_path", table_json(replayed_path_table(summary, summary.path.size()))},
         {"links", table_json(link_table(summary.links))},
         {"hottest_links", table_json(hot_links_table(summary.hottest))},
         {"notes", summary.notes},
         {"simulation",
          {{"ranks", summary.ranks},
           {"nodes", summary.nodes},
           {"events", summary.events},
           {"solves", summary.solves},
           {"wall_s", wall.value}}}});
}

}  // namespace weft
