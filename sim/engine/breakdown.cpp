#include "sim/engine/breakdown.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/engine/sweep.hpp"

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

LaneId lane_of(const Program& program, const Op& op, LaneId compute) {
    if (op.lane != compute) return op.lane;
    return program.communications[program.exchanges[ExchangeId(op.subject)].communication].dimension;
}

// Every kind of call of a program: lane, operation and group size. Few, so a sorted list.
class CallKinds {
  public:
    CallKinds(const Program& program, LaneId compute);

    std::uint32_t of(const Program& program, const Op& op, LaneId lane) const {
        const CommunicationId id = program.exchanges[ExchangeId(op.subject)].communication;
        return slot_[shape_[id] * lanes_ + index(lane)];
    }
    const std::vector<CallTime>& kinds() const { return kinds_; }

  private:
    std::size_t lanes_;
    Table<CommunicationId, std::uint32_t> shape_;  // number of its (operation, group size)
    std::vector<std::uint32_t> slot_;              // (shape, lane) -> index of the kind
    std::vector<CallTime> kinds_;
};

CallKinds::CallKinds(const Program& program, LaneId compute) : lanes_(program.lanes.size()) {
    std::map<std::pair<Collective, std::uint32_t>, std::uint32_t> shapes;
    for (const Communication& what : program.communications) {
        const auto next_shape = static_cast<std::uint32_t>(shapes.size());
        shape_.push_back(shapes.try_emplace({what.op, what.group_size}, next_shape).first->second);
    }
    std::vector<bool> used(shapes.size() * lanes_, false);
    for (const Op& op : program.ops) {
        if (op.kind != OpKind::exchange) continue;
        const CommunicationId id = program.exchanges[ExchangeId(op.subject)].communication;
        used[shape_[id] * lanes_ + index(lane_of(program, op, compute))] = true;
    }
    slot_.resize(used.size());
    for (LaneId lane{}; index(lane) < lanes_; lane = next(lane)) {
        for (const auto& [shape, number] : shapes) {  // in the order of operation and group size
            const std::size_t i = number * lanes_ + index(lane);
            if (!used[i]) continue;
            slot_[i] = static_cast<std::uint32_t>(kinds_.size());
            kinds_.push_back({.lane = lane, .op = shape.first, .group_size = shape.second, .messages = {}, .time = {}});
        }
    }
}

void count(LaneTime& time, const Span& span) {
    time.transfer += span.end - span.begin;
    time.waiting += span.begin - span.posted;
    time.calls += 1.0;
}

void add_share(LaneTime& sum, const LaneTime& time, double share) {
    sum.transfer += time.transfer * share;
    sum.exposed += time.exposed * share;
    sum.waiting += time.waiting * share;
    sum.calls += time.calls * share;
}

// By how many ticks a compute op took longer than it would have undisturbed.
std::int64_t delay(const Program& program, const Op& op, const Span& span) {
    if (op.lane != program.contended) return 0;
    return span.end.femtoseconds - (span.begin + program.work[op.subject]).femtoseconds;
}

Breakdown break_down(const Program& program, const Timeline& timeline, const RankClass& rank_class, LaneId compute,
                     const Table<LaneId, std::uint32_t>& place, const CallKinds& kinds, Sweep& sweep) {
    Table<LaneId, LaneTime> times(program.lanes.size());
    std::vector<CallTime> calls = kinds.kinds();
    const auto beside = static_cast<std::uint32_t>(program.lanes.size());  // after all lanes
    std::int64_t delays = 0;
    sweep.clear();
    for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
        const Op& op = program.ops[OpId{i}];
        const Span& span = timeline.spans[OpId{i}];
        if (op.kind == OpKind::compute) {
            sweep.add(op.lane, {span.begin, span.end, op.lane == compute ? 0 : beside});
            delays += delay(program, op, span);
        }
        if (op.kind != OpKind::exchange) continue;
        const LaneId lane = lane_of(program, op, compute);
        WEFT_CHECK(lane != compute, "a communication needs a lane of its own");
        const std::uint32_t kind = kinds.of(program, op, lane);
        sweep.add(op.lane, {span.begin, span.end, place[lane], kind});
        count(times[lane], span);
        count(calls[kind].time, span);
        calls[kind].messages += program.communications[program.exchanges[ExchangeId(op.subject)].communication].message;
    }
    Breakdown result;
    result.idle = sweep.run(timeline.end);
    result.busy = sweep.busy();
    result.interference = since_start({delays});
    for (LaneId lane{}; lane != times.end_id(); lane = next(lane)) {
        if (place[lane] != 0) times[lane].exposed = sweep.exposed_at(place[lane]);
    }
    for (std::uint32_t kind = 0; kind < calls.size(); ++kind) calls[kind].time.exposed = sweep.exposed(kind);
    result.lanes = std::move(times);
    result.calls = std::move(calls);
    return result;
}

}  // namespace

Seconds Breakdown::exposed() const {
    Seconds sum;
    for (const LaneTime& lane : lanes) sum += lane.exposed;
    return sum;
}

Table<RankClassId, Breakdown> break_down(const Program& program, const Timeline& timeline, LaneId compute,
                                         std::span<const LaneId> priority) {
    const Table<LaneId, std::uint32_t> place = rank_lanes(program.lanes.size(), compute, priority);
    const CallKinds kinds(program, compute);
    Table<RankClassId, Breakdown> result;
    result.reserve(program.classes.size());
    Sweep sweep(program.lanes.size(), kinds.kinds().size());
    for (const RankClass& rank_class : program.classes) {
        result.push_back(break_down(program, timeline, rank_class, compute, place, kinds, sweep));
    }
    return result;
}

Breakdown mean(const Program& program, const Table<RankClassId, Breakdown>& classes) {
    double ranks = 0.0;
    for (const RankClass& rank_class : program.classes) ranks += rank_class.weight;
    Breakdown sum;
    sum.lanes = Table<LaneId, LaneTime>(program.lanes.size());
    for (RankClassId id{}; id != classes.end_id(); id = next(id)) {
        const double share = program.classes[id].weight / ranks;
        sum.busy += classes[id].busy * share;
        sum.interference += classes[id].interference * share;
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
