#include "sim/engine/breakdown.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"

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

// At `at`, the number of ops under way on the lane in `place` changes by `step`; `kind` is what begins.
struct Edge {
    Instant at;
    std::uint32_t place = 0;
    std::int32_t step = 0;
    std::uint32_t kind = 0;
};

class Sweep {
  public:
    // The last place is that of computation beside the compute lane.
    Sweep(std::size_t places, std::size_t kinds)
        : under_way_(places), first_for_(places), kind_(places), first_for_kind_(kinds) {}

    void add(std::uint32_t place, const Span& span, std::uint32_t kind = 0) {
        edges_.push_back({span.begin, place, 1, kind});
        edges_.push_back({span.end, place, -1, kind});
    }

    Seconds exposed(std::uint32_t kind) const { return since_start({first_for_kind_[kind]}); }

    // Gives every moment from 0 to `end` to the first lane with something under way, and there to the call that began
    // last. Idle is what is left. Counted in ticks, so that the parts add up.
    Breakdown run(Instant end, const Table<LaneId, std::uint32_t>& place) {
        // Stable: of calls that follow one another at one instant, the last to be added is under way from then on.
        std::stable_sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
        Instant now;
        std::int64_t idle = 0;
        for (const Edge& edge : edges_) {
            give(edge.at.femtoseconds - now.femtoseconds, idle);
            now = edge.at;
            under_way_[edge.place] += edge.step;
            if (edge.step > 0) kind_[edge.place] = edge.kind;
        }
        give(end.femtoseconds - now.femtoseconds, idle);
        Breakdown result;
        result.idle = since_start({idle});
        result.lanes = Table<LaneId, LaneTime>(place.size());
        result.busy = since_start({first_for_.front() + first_for_.back()});
        for (LaneId lane{}; lane != place.end_id(); lane = next(lane)) {
            if (place[lane] != 0) result.lanes[lane].exposed = since_start({first_for_[place[lane]]});
        }
        return result;
    }

  private:
    void give(std::int64_t ticks, std::int64_t& idle) {
        const auto first = std::ranges::find_if(under_way_, [](std::int32_t count) { return count > 0; });
        if (first == under_way_.end()) {
            idle += ticks;
            return;
        }
        const auto place = static_cast<std::size_t>(first - under_way_.begin());
        first_for_[place] += ticks;
        if (place > 0 && place + 1 < first_for_.size()) first_for_kind_[kind_[place]] += ticks;
    }

    std::vector<Edge> edges_;
    std::vector<std::int32_t> under_way_;       // by place
    std::vector<std::int64_t> first_for_;       // ticks, by place
    std::vector<std::uint32_t> kind_;           // of the call that began last, by place
    std::vector<std::int64_t> first_for_kind_;  // ticks, by kind of call
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

Seconds interference_of(const Program& program, const Timeline& timeline, const RankClass& rank_class) {
    std::int64_t ticks = 0;
    for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
        const Op& op = program.ops[OpId{i}];
        if (op.kind != OpKind::compute || op.lane != program.contended) continue;
        const Span& span = timeline.spans[OpId{i}];
        ticks += span.end.femtoseconds - (span.begin + program.work[op.subject]).femtoseconds;
    }
    return since_start({ticks});
}

Breakdown break_down(const Program& program, const Timeline& timeline, const RankClass& rank_class, LaneId compute,
                     const Table<LaneId, std::uint32_t>& place, const CallKinds& kinds) {
    Table<LaneId, LaneTime> times(program.lanes.size());
    std::vector<CallTime> calls = kinds.kinds();
    Sweep sweep(program.lanes.size() + 1, calls.size());
    const auto beside = static_cast<std::uint32_t>(program.lanes.size());  // after all lanes
    for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
        const Op& op = program.ops[OpId{i}];
        const Span& span = timeline.spans[OpId{i}];
        if (op.kind == OpKind::compute) sweep.add(op.lane == compute ? 0 : beside, span);
        if (op.kind != OpKind::exchange) continue;
        const LaneId lane = lane_of(program, op, compute);
        WEFT_CHECK(lane != compute, "a communication needs a lane of its own");
        const std::uint32_t kind = kinds.of(program, op, lane);
        sweep.add(place[lane], span, kind);
        count(times[lane], span);
        count(calls[kind].time, span);
        calls[kind].messages += program.communications[program.exchanges[ExchangeId(op.subject)].communication].message;
    }
    Breakdown result = sweep.run(timeline.end, place);
    result.interference = interference_of(program, timeline, rank_class);
    for (LaneId lane{}; lane != times.end_id(); lane = next(lane)) {
        times[lane].exposed = result.lanes[lane].exposed;
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
    for (const RankClass& rank_class : program.classes) {
        result.push_back(break_down(program, timeline, rank_class, compute, place, kinds));
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
