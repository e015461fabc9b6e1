#include "workloads/recorded/replay.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/network/link_traffic.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {
namespace {

constexpr std::size_t links_of_class = 3;

struct Summary {
    const RecordedProgram& program;
    const Meetings& meetings;
    const RecordedCosts& costs;
    const Topology& topology;
    const RecordedRun& run;
    ReplaySummary found{};

    ReplaySummary take() && {
        const double ranks = static_cast<double>(program.ranks.size());
        found.ranks = program.ranks.size();
        found.nodes = run.end.size();
        found.step = since_start(run.over);
        found.by_rank = run.ranks;
        for (const ActivityTimes& rank : run.ranks) {
            for (std::size_t i = 0; i < rank_activities; ++i) found.mean[i] += rank[i] / ranks;
        }
        found.notes = program.notes;
        found.events = run.events;
        found.solves = run.solves;
        add_recorded();
        add_calls();
        add_path();
        add_links();
        return std::move(found);
    }

    void add_recorded() {
        Seconds longest;
        const double ranks = static_cast<double>(program.ranks.size());
        for (std::size_t i = 0; i < program.ranks.size(); ++i) {
            const RecordedRank& rank = program.ranks[i];
            longest = std::max(longest, rank.recorded);
            for (const RecordedNode& node : rank.nodes) {
                (node.kind == RecordedKind::compute ? found.recorded.computation : found.recorded.communication) +=
                    node.time / ranks;
            }
            const auto begin = run.end.begin() + meetings.first_node[i],
                       end = run.end.begin() + meetings.first_node[i + 1];
            found.rank_ends.push_back(begin == end ? Seconds{} : since_start(*std::max_element(begin, end)));
        }
        if (longest > Seconds{}) found.recorded.step = longest;
    }

    void add_calls() {
        std::map<std::pair<Collective, std::uint32_t>, ReplayedCalls> kinds;
        std::map<std::tuple<Collective, std::uint32_t, Bytes, std::string, std::string>, CallReport> reports;
        std::vector<Seconds> time(costs.calls.size());
        std::vector<double> parties(costs.calls.size(), 0.0);
        for (std::size_t i = 0; i < meetings.meetings.size(); ++i) {
            const auto members = meetings.of(meetings.meetings[i]);
            const std::uint32_t call = costs.call_of[i];
            time[call] += time_of(members, costs.calls[call].op) * static_cast<double>(members.size());
            parties[call] += static_cast<double>(members.size());
        }
        const double ranks = static_cast<double>(program.ranks.size());
        for (std::size_t i = 0; i < costs.calls.size(); ++i) {
            const RecordedCall& call = costs.calls[i];
            const double senders = call.op == Collective::point_to_point ? 0.5 : 1.0;
            const double calls = parties[i] * senders / ranks;
            const Seconds each = time[i] * senders / ranks;
            ReplayedCalls& kind = kinds[{call.op, call.members}];
            kind.op = name(call.op);
            kind.group_size = call.members;
            kind.calls += calls;
            kind.bytes += (call.op == Collective::all_gather ? call.message / call.members : call.message) * calls;
            kind.time += each;
            CallReport& report =
                reports[{call.op, call.members, call.message, call.method.algorithm, call.method.protocol}];
            report.message = call.message;
            report.method = call.method;
            report.calls += calls;
            report.time += each;
        }
        for (auto& [key, report] : reports) {
            const auto [op, members, message, algorithm, protocol] = key;
            if (report.time > Seconds{}) {
                report.bus_bandwidth = message * (report.calls * bus_factor(op, members)) / report.time;
            }
            kinds[{op, members}].by_message.push_back(report);
        }
        for (auto& [key, kind] : kinds) found.calls.push_back(std::move(kind));
    }

    // Of a message until its sender is through with it.
    Seconds time_of(std::span<const std::uint32_t> members, Collective op) const {
        if (op == Collective::point_to_point) return run.end[members[0]] - run.begin[members[0]];
        Instant last;
        for (const std::uint32_t at : members) last = std::max(last, run.begin[at]);
        return run.end[members[0]] - last;
    }

    void add_path() {
        std::map<std::string, PathShare, std::less<>> shares;
        for (const RecordedPiece& piece : critical_path(program, meetings, run)) {
            const RecordedNode& what = meetings.node(program, piece.node);
            const std::string_view called = what.kind == RecordedKind::collective ? name(what.op)
                                            : what.kind == RecordedKind::compute  ? program.names[what.name]
                                                                                  : std::string_view("message");
            PathShare& share = shares[std::string(called)];
            share.what = called;
            share.nodes += 1;
            share.time += piece.end - piece.begin;
        }
        for (auto& [name, share] : shares) found.path.push_back(std::move(share));
        std::ranges::stable_sort(found.path, std::greater<>(), &PathShare::time);
    }

    void add_links() {
        for (LinkClassId id{}; id != topology.classes.end_id(); id = next(id)) {
            if (run.peak_utilization[index(id)] == 0.0) continue;
            found.links.push_back(
                {topology.classes[id].name, run.utilization[index(id)], run.peak_utilization[index(id)]});
        }
        std::ranges::stable_sort(found.links, std::greater<>(), &LinkReport::peak_utilization);
        found.hottest = hottest_links(topology, listed_links(costs.patterns, run.moved), found.step, links_of_class);
    }
};

// The party of a meeting that came last, by which it began.
std::uint32_t last_to_come(const Meetings& meetings, const RecordedRun& run, std::uint32_t meeting) {
    const auto parties = meetings.of(meetings.meetings[meeting]);
    return *std::ranges::max_element(parties, {}, [&](std::uint32_t at) { return run.begin[at]; });
}

}  // namespace

ReplaySummary summarize(const RecordedProgram& program, const Meetings& meetings, const RecordedCosts& costs,
                        const Topology& topology, const RecordedRun& run) {
    return Summary{program, meetings, costs, topology, run}.take();
}

std::vector<RecordedPiece> critical_path(const RecordedProgram& program, const Meetings& meetings,
                                         const RecordedRun& run) {
    std::vector<RecordedPiece> pieces;
    const auto last = std::ranges::find(run.end, run.over);
    if (last == run.end.end()) return pieces;
    auto at = static_cast<std::uint32_t>(last - run.end.begin());
    for (Instant end = run.over; at != NodeCause::nobody;) {
        const RecordedKind kind = meetings.node(program, at).kind;
        if (kind == RecordedKind::collective && run.begin[at] < end)
            at = last_to_come(meetings, run, meetings.of_node[at]);
        // A receive that waited is its message's; until it arrived, the send's.
        const std::uint32_t send =
            kind == RecordedKind::receive ? meetings.of(meetings.meetings[meetings.of_node[at]])[0] : at;
        if (kind == RecordedKind::receive && run.begin[at] < end && run.begin[send] < end) at = send;
        if (run.begin[at] < end) pieces.push_back({at, run.begin[at], end});
        end = std::min(end, run.begin[at]);
        at = run.cause[at].node;
    }
    std::ranges::reverse(pieces);
    return pieces;
}

}  // namespace weft
