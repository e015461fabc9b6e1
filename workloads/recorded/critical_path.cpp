#include <algorithm>

#include "workloads/recorded/reading.hpp"
#include "workloads/recorded/replay.hpp"

namespace weft {
namespace {

// The party of a meeting that came last, by which it began.
std::uint32_t last_to_come(const Meetings& meetings, const RecordedRun& run, std::uint32_t meeting) {
    const auto parties = meetings.of(meetings.meetings[meeting]);
    return *std::ranges::max_element(parties, {}, [&](std::uint32_t at) { return run.begin[at]; });
}

}  // namespace

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

void check_ended(const RecordedProgram& program, const Meetings& meetings, const RecordedRun& run) {
    RecordedMistakes stuck;
    for (std::uint32_t rank = 0; rank < program.ranks.size(); ++rank) {
        for (std::uint32_t at = meetings.first_node[rank]; at < meetings.first_node[rank + 1]; ++at) {
            if (run.begin[at] == Instant::never() || run.end[at] != Instant::never()) continue;
            stuck.add(program.ranks[rank], program.ranks[rank].nodes[at - meetings.first_node[rank]],
                      "waits for ever: the ranks that it meets wait for others in a circle");
            break;
        }
    }
    stuck.check();
}

}  // namespace weft
