#include "tools/output/result_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "sim/base/enumerators.hpp"
#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"
#include "tools/output/report_text.hpp"

namespace weft {
namespace {

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
        step.add({activity_names[i].second, to_text(summary.mean[i]), share_text(summary.mean[i], summary.step)});
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
