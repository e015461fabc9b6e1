#include "sim/engine/breakdown.hpp"

#include "sim/base/check.hpp"
#include "sim/engine/class_breakdown.hpp"

namespace weft {
namespace {

// Place of each lane in the order of priority; the compute lane's place stands for computing and comes first.
Table<LaneId, std::uint32_t> rank_lanes(std::size_t lanes, LaneId compute, std::span<const LaneId> priority) {
    constexpr std::uint32_t unranked = ~0U;
    Table<LaneId, std::uint32_t> place(lanes, unranked);
    std::uint32_t next_place = 0;
    place[compute] = next_place++;
    for (const LaneId lane : priority) {
        WEFT_CHECK(index(lane) < lanes && place[lane] == unranked, "priority must name communication lanes, each once");
        place[lane] = next_place++;
    }
    for (std::uint32_t& p : place) p = p == unranked ? next_place++ : p;
    return place;
}

void add_share(LaneTime& sum, const LaneTime& time, double share) {
    sum.transfer += time.transfer * share;
    sum.exposed += time.exposed * share;
    sum.waiting += time.waiting * share;
    sum.calls += time.calls * share;
}

}  // namespace

Seconds Breakdown::exposed() const { return sum_of<Seconds>(lanes, &LaneTime::exposed); }

Table<RankClassId, Breakdown> break_down(const Program& program, const Timeline& timeline, LaneId compute,
                                         std::span<const LaneId> priority) {
    const Table<LaneId, std::uint32_t> place = rank_lanes(program.lanes.size(), compute, priority);
    ClassBreakdown breakdown(program, timeline, compute, place);
    Table<RankClassId, Breakdown> result;
    result.reserve(program.classes.size());
    for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) result.push_back(breakdown.of(id));
    return result;
}

Breakdown mean(const Program& program, const Table<RankClassId, Breakdown>& classes) {
    const auto ranks = sum_of<double>(program.classes, &RankClass::weight);
    Breakdown sum;
    sum.lanes = Table<LaneId, LaneTime>(program.lanes.size());
    for (RankClassId id{}; id != classes.end_id(); id = next(id)) {
        const double share = program.classes[id].weight / ranks;
        sum.busy += classes[id].busy * share;
        sum.interference += classes[id].interference * share;
        sum.beside += classes[id].beside * share;
        sum.idle += classes[id].idle * share;
        for (LaneId lane{}; lane != sum.lanes.end_id(); lane = next(lane)) {
            add_share(sum.lanes[lane], classes[id].lanes[lane], share);
        }
        const std::vector<CallTime>& calls = classes[id].calls;
        if (sum.calls.empty()) {
            sum.calls = calls;
            for (CallTime& call : sum.calls) call.messages = {}, call.time = {};
        }
        for (std::size_t kind = 0; kind < calls.size(); ++kind) {
            sum.calls[kind].messages += calls[kind].messages * share;
            add_share(sum.calls[kind].time, calls[kind].time, share);
        }
    }
    return sum;
}

}  // namespace weft
