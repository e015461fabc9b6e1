#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/output/figures.hpp"
#include "tools/output/text_stream.hpp"
#include "tools/page/replay_page.hpp"
#include "tools/page/timeline_lane.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t longest_name = 200;

class ReplayTimeline {
  public:
    explicit ReplayTimeline(const ReplayedProgram& replayed)
        : program_(replayed.program), meetings_(replayed.meetings), costs_(replayed.costs), run_(replayed.run) {}

    Json json(const TimelineLimits& limits) {
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
                {"labels", labels_.list()},
                {"calls", calls_.list()},
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
        for (const auto& [time, rank] : longest) {
            if (chosen.size() < count / 2) chosen.insert(rank);
        }
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
        std::vector<std::uint32_t> nodes;
        for (std::uint32_t at = first; at < first + own.nodes.size(); ++at) {
            if (nanoseconds(run_.begin[at]) != nanoseconds(run_.end[at])) nodes.push_back(at);
        }
        std::ranges::stable_sort(nodes, {}, [&](std::uint32_t at) { return run_.begin[at]; });
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
        const std::uint32_t meeting = meetings_.of_node[at];
        const RecordedCall& call = costs_.calls[costs_.call_of[meeting]];
        const auto parties = meetings_.of(meetings_.meetings[meeting]);
        Instant begin = run_.begin[at];
        for (const std::uint32_t other : parties.first(node.kind == RecordedKind::collective ? parties.size() : 1)) {
            begin = std::max(begin, run_.begin[other]);
        }
        const bool is_sent = node.kind == RecordedKind::send;
        const std::string_view called = node.kind == RecordedKind::collective ? name(call.op)
                                        : is_sent                             ? "send"
                                                                              : "receive";
        TimelineLane& lane = free_lane(lanes,
                                       node.kind == RecordedKind::collective ? "collectives"
                                       : is_sent                             ? "sends"
                                                                             : "receives",
                                       nanoseconds(run_.begin[at]));
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
    NumberedValues labels_, calls_;
};

}  // namespace

Json replay_timeline(const ReplayedProgram& replayed, const TimelineLimits& limits) {
    return ReplayTimeline(replayed).json(limits);
}

}  // namespace weft
