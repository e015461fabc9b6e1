#include "tools/page/pages.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/timeline_trace.hpp"
#include "tools/page/html.hpp"
#include "tools/page/result_data.hpp"
#include "tools/page/simulation_page.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {
namespace {

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

constexpr std::size_t longest_name = 200;

// As timeline_data() has it, a row per rank: its units, and what it does in collectives, sends and receives. Of the
// ranks as many as a page shows stages; "left_out" says how many slices of those are not there.
class ReplayTimeline {
  public:
    explicit ReplayTimeline(const ReplayedProgram& replayed)
        : program_(replayed.program), meetings_(replayed.meetings), costs_(replayed.costs), run_(replayed.run) {}

    Json json() {
        const TimelineLimits limits;
        const std::vector<RecordedPiece> pieces = critical_path(program_, meetings_, run_);
        const std::vector<std::size_t> ranks = chosen_ranks(pieces, std::min(program_.ranks.size(), limits.stages));
        Json rows = Json::array();
        for (const std::size_t rank : ranks) {
            rows.push_back({{"name", fmt::format("rank {}", rank)},
                            {"shown", true},
                            {"lanes", lanes(rank, limits.slices / ranks.size())},
                            {"path", Json::array()}});
        }
        for (const RecordedPiece& piece : pieces) {
            const auto row = std::ranges::find(ranks, meetings_.rank_of(piece.node));
            if (row == ranks.end()) continue;
            Json& path = rows[static_cast<std::size_t>(row - ranks.begin())]["path"];
            path.push_back(nanoseconds(piece.begin));
            path.push_back(nanoseconds(piece.end) - nanoseconds(piece.begin));
        }
        return {{"until", std::max<std::int64_t>(nanoseconds(run_.over), 1)},
                {"left_out", left_out_},
                {"rows", "Ranks"},
                {"stages", std::move(rows)},
                {"labels", labels_.values()},
                {"calls", calls_.values()},
                {"links", Json::array()}};
    }

  private:
    // Half of them those on which the path stays the longest, the others at equal distances.
    std::vector<std::size_t> chosen_ranks(const std::vector<RecordedPiece>& pieces, std::size_t count) const {
        std::map<std::size_t, Seconds> stays;
        for (const RecordedPiece& piece : pieces) stays[meetings_.rank_of(piece.node)] += piece.end - piece.begin;
        std::vector<std::pair<Seconds, std::size_t>> longest;
        for (const auto& [rank, time] : stays) longest.emplace_back(time, rank);
        std::ranges::sort(longest, std::greater<>());
        std::set<std::size_t> chosen;
        longest.resize(std::min(longest.size(), count / 2));
        for (const auto& [time, rank] : longest) chosen.insert(rank);
        for (std::size_t more = count - chosen.size(); chosen.size() < count; ++more) {
            for (const std::size_t rank : equally_spaced(program_.ranks.size(), more)) {
                if (chosen.size() < count) chosen.insert(rank);
            }
        }
        return {chosen.begin(), chosen.end()};
    }

    Json lanes(std::size_t rank, std::size_t most) {
        const RecordedRank& own = program_.ranks[rank];
        const std::uint32_t first = meetings_.first_node[rank];
        std::vector<std::uint32_t> nodes = nodes_in_time(run_, first, own.nodes.size());
        left_out_ += nodes.size() - std::min(nodes.size(), most);
        nodes.resize(std::min(nodes.size(), most));
        std::vector<TimelineLane> lanes;
        for (const RecordedUnit& unit : own.units) {
            lanes.push_back({.name = unit.name, .dimension = unit.is_host ? "host" : "compute"});
        }
        for (const std::uint32_t at : nodes) {
            const RecordedNode& node = own.nodes[at - first];
            if (node.kind != RecordedKind::compute) {
                add_call(at, node, lanes);
                continue;
            }
            const std::string_view called = std::string_view(program_.names[node.name]).substr(0, longest_name);
            lanes[node.unit].add(nanoseconds(run_.begin[at]), nanoseconds(run_.end[at]),
                                 labels_.number_of({called, "compute"}));
        }
        Json json = Json::array();
        for (const TimelineLane& lane : lanes) {
            if (!lane.gap.empty()) json.push_back(lane.json());
        }
        return json;
    }

    // From when all whom it takes are there. What a rank does at once has a lane each.
    void add_call(std::uint32_t at, const RecordedNode& node, std::vector<TimelineLane>& lanes) {
        const bool is_collective = node.kind == RecordedKind::collective;
        const std::uint32_t meeting = meetings_.of_node[at];
        const RecordedCall& call = costs_.calls[costs_.call_of[meeting]];
        const auto parties = meetings_.of(meetings_.meetings[meeting]);
        Instant begin = run_.begin[at];
        for (const std::uint32_t other : parties.first(is_collective ? parties.size() : 1)) {
            begin = std::max(begin, run_.begin[other]);
        }
        const std::string_view way = is_collective                     ? "collective"
                                     : node.kind == RecordedKind::send ? "send"
                                                                       : "receive";
        const std::string_view called = is_collective ? name(call.op) : way;
        TimelineLane& lane = free_lane(lanes, fmt::format("{}s", way), nanoseconds(run_.begin[at]));
        lane.dimension = "communication";
        lane.add(nanoseconds(begin), nanoseconds(run_.end[at]), labels_.number_of({called, "communication"}),
                 calls_.number_of({name(call.op), call.members, std::llround(call.message.value),
                                   method_text(call.method), bus_factor(call.op, call.members)}));
        lane.wait.push_back(nanoseconds(begin) - nanoseconds(run_.begin[at]));
    }

    const RecordedProgram& program_;
    const Meetings& meetings_;
    const RecordedCosts& costs_;
    const RecordedRun& run_;
    std::size_t left_out_ = 0;
    Numbered<Json> labels_, calls_;
};

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
    Json timeline = ReplayTimeline(replayed).json();
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
         html_table("Use of the links of a class, and of its busiest one.", link_table(summary.links))}};
    html.add("<nav aria-label=\"Sections\">{}</nav>", html_links(sections));
    html.put(html_sections(sections));
    html.add("{}", html_made_by(command));
    const Json jobs = Json::array({Json{{"name", "the replay"}, {"timeline", std::move(timeline)}}});
    return html_page({.title = fmt::format("A recorded program on {}", setting.machine->name),
                      .body = html.take(),
                      .data = data_text({{"jobs", jobs}}),
                      .scripts = {"table", "format", "theme", "timeline_view", "timeline_lanes", "timeline_drawing",
                                  "timeline", "compare"}});
}

}  // namespace weft
