#include "tools/page/replay_page.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <vector>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/page/html.hpp"
#include "tools/page/result_data.hpp"
#include "tools/page/simulation_page.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

// As pages draw what the rank does, by RankActivity.
constexpr std::array<std::string_view, rank_activities> colours{"compute", "communication", "host", "bubble",
                                                                "imbalance"};

BarRow time_row(std::string name, const ActivityTimes& times) {
    BarRow row{.name = std::move(name), .parts = {}};
    for (std::size_t i = 0; i < rank_activities; ++i) {
        row.parts.push_back({.name = std::string(activity_word(static_cast<RankActivity>(i))),
                             .colour = std::string(colours[i]),
                             .seconds = times[i].value});
    }
    return row;
}

std::string ranks_part(const ReplaySummary& summary) {
    if (summary.step == Seconds{}) return "<p>Nothing takes any time.</p>";
    std::vector<BarRow> rows;
    if (summary.by_rank.size() > 1) rows.push_back(time_row("all ranks", summary.mean));
    for (std::size_t rank = 0; rank < summary.by_rank.size(); ++rank) {
        rows.push_back(time_row(fmt::format("rank {}", rank), summary.by_rank[rank]));
    }
    return time_bars(std::move(rows), summary.step.value, "ranks", "Time and share of the step.");
}

std::string timeline_html(const Json& timeline, std::size_t ranks) {
    std::string html;
    if (const std::size_t shown = timeline["stages"].size(); shown < ranks) {
        html += fmt::format(
            "<p>{} of {} ranks: some on which the critical path stays the longest, and others at equal "
            "distances.</p>\n",
            shown, ranks);
    }
    if (const auto left_out = timeline["left_out"].get<std::size_t>(); left_out > 0) {
        html += fmt::format(
            "<p><strong>Of these the last {} slices are not shown: they would be too much for a page."
            "</strong></p>\n",
            grouped(static_cast<double>(left_out)));
    }
    return html + "<div id=\"timeline-0\"></div><noscript><p>The timeline needs JavaScript.</p></noscript>\n";
}

std::string lead(const ReplaySummary& summary) {
    std::string text = "Step time: " + to_text(summary.step);
    if (!summary.recorded.step) return text + '.';
    const double more = summary.step / *summary.recorded.step - 1;
    return text + fmt::format("; recorded {} ({}).", to_text(*summary.recorded.step), signed_percent_text(more));
}

}  // namespace

std::string replay_page(const ReplayedProgram& replayed, const ReplaySummary& summary, const ReplaySetting& setting,
                        const std::string& command) {
    Json timeline = replay_timeline(replayed);
    HtmlText html;
    html.add("<p class=\"lead\">{}</p>\n<p class=\"lead\">{}.</p>", lead(summary),
             xml_escaped(replay_setting_text(summary, setting)));
    for (const std::string& note : summary.notes) html.add("<p>{}</p>", xml_escaped(note));
    const HtmlSection sections[] = {
        {"ranks", "Ranks", "Where the time goes", ranks_part(summary)},
        {"path", "Critical path", "Critical path",
         html_table("What the length of the step is made of, the longest first.",
                    replayed_path_table(summary, summary.path.size()))},
        {"timeline", "Timeline", "Timeline", timeline_html(timeline, summary.ranks)},
        {"calls", "Communication", "Communication",
         html_table("Calls of a rank, mean over all.", replayed_call_table(summary))},
        {"links", "Links", "Links",
         html_table("Use of the links of a class, and of its busiest one.", replayed_link_table(summary))}};
    html.add("<nav aria-label=\"Sections\">{}</nav>", html_links(sections));
    html.put(html_sections(sections));
    html.add("<p class=\"quiet made\">Made by <code>{}</code></p>", xml_escaped(command));
    const Json jobs = Json::array({Json{{"name", "the replay"}, {"timeline", std::move(timeline)}}});
    return html_page({.title = fmt::format("A recorded program on {}", setting.machine->name),
                      .body = html.take(),
                      .data = data_text({{"jobs", jobs}}),
                      .scripts = {"table", "format", "theme", "timeline_view", "timeline_lanes", "timeline_drawing",
                                  "timeline", "compare"}});
}

}  // namespace weft
