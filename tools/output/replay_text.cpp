#include "tools/output/replay_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/enumerators.hpp"
#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/json_text.hpp"

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

Json call_json(const CallReport& call) {
    return {{"message_bytes", number<Json>(call.message.value)},
            {"algorithm", call.method.algorithm},
            {"protocol", call.method.protocol},
            {"channels", call.method.channels},
            {"calls", call.calls},
            {"time_s", call.time.value},
            {"busbw", call.bus_bandwidth.value}};
}

Json calls_json(const ReplayedCalls& kind) {
    return {{"op", kind.op},
            {"group_size", kind.group_size},
            {"calls", kind.calls},
            {"bytes", kind.bytes.value},
            {"time_s", kind.time.value},
            {"by_message", json_list<Json>(kind.by_message, call_json)}};
}

Json path_json(const PathShare& share) {
    return {{"what", share.what}, {"nodes", share.nodes}, {"time_s", share.time.value}};
}

Json link_json(const LinkReport& link) {
    return {{"class", link.link_class}, {"utilization", link.utilization}, {"peak_utilization", link.peak_utilization}};
}

Json hottest_json(const HotLink& link) {
    return {{"from", link.from},        {"to", link.to},
            {"class", link.link_class}, {"load_bytes", link.bytes.value},
            {"utilization", link.busy}, {"links_alike", link.links}};
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
         {"communication", json_list<Json>(summary.calls, calls_json)},
         {"critical_path", json_list<Json>(summary.path, path_json)},
         {"links", json_list<Json>(summary.links, link_json)},
         {"hottest_links", json_list<Json>(summary.hottest, hottest_json)},
         {"notes", summary.notes},
         {"simulation",
          {{"ranks", summary.ranks},
           {"nodes", summary.nodes},
           {"events", summary.events},
           {"solves", summary.solves},
           {"wall_s", wall.value}}}});
}

}  // namespace weft
