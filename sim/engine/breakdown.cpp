#include "sim/engine/breakdown.hpp"

#include <algorithm>
#include <cstdint>

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

// At `at`, the number of ops under way on the lane in `place` changes by `step`.
struct Edge {
    Instant at;
    std::uint32_t place = 0;
    std::int32_t step = 0;
};

class Sweep {
  public:
    explicit Sweep(std::size_t lanes) : under_way_(lanes), first_for_(lanes) {}

    void add(std::uint32_t place, const Span& span) {
        edges_.push_back({span.begin, place, 1});
        edges_.push_back({span.end, place, -1});
    }

    // Gives every moment from 0 to `end` to the first lane with something under way. Idle is what is left. Counted in
    // ticks, so that the parts add up.
    Breakdown run(Instant end, const Table<LaneId, std::uint32_t>& place) {
        std::ranges::sort(edges_, [](const Edge& a, const Edge& b) { return a.at < b.at; });
        Instant now;
        std::int64_t idle = 0;
        for (const Edge& edge : edges_) {
            give(edge.at.femtoseconds - now.femtoseconds, idle);
            now = edge.at;
            under_way_[edge.place] += edge.step;
        }
        give(end.femtoseconds - now.femtoseconds, idle);
        Breakdown result;
        result.idle = since_start({idle});
        result.lanes = Table<LaneId, LaneTime>(place.size());
        result.busy = since_start({first_for_[0]});
        for (LaneId lane{}; lane != place.end_id(); lane = next(lane)) {
            if (place[lane] != 0) result.lanes[lane].exposed = since_start({first_for_[place[lane]]});
        }
        return result;
    }

  private:
    void give(std::int64_t ticks, std::int64_t& idle) {
        const auto first = std::ranges::find_if(under_way_, [](std::int32_t count) { return count > 0; });
        (first == under_way_.end() ? idle : first_for_[static_cast<std::size_t>(first - under_way_.begin())]) += ticks;
    }

    std::vector<Edge> edges_;
    std::vector<std::int32_t> under_way_;  // by place
    std::vector<std::int64_t> first_for_;  // ticks, by place
};

LaneId lane_of(const Program& program, const Op& op, LaneId compute) {
    if (op.lane != compute) return op.lane;
    return program.communications[program.exchanges[ExchangeId(op.subject)].communication].dimension;
}

Breakdown break_down(const Program& program, const Timeline& timeline, const RankClass& rank_class, LaneId compute,
                     const Table<LaneId, std::uint32_t>& place) {
    Table<LaneId, LaneTime> times(program.lanes.size());
    Sweep sweep(program.lanes.size());
    for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
        const Op& op = program.ops[OpId{i}];
        const Span& span = timeline.spans[OpId{i}];
        if (op.kind == OpKind::compute && op.lane == compute) sweep.add(0, span);
        if (op.kind != OpKind::exchange) continue;
        const LaneId lane = lane_of(program, op, compute);
        WEFT_CHECK(lane != compute, "a communication needs a lane of its own");
        sweep.add(place[lane], span);
        times[lane].transfer += span.end - span.begin;
        times[lane].waiting += span.begin - span.posted;
        times[lane].calls += 1.0;
    }
    Breakdown result = sweep.run(timeline.end, place);
    for (LaneId lane{}; lane != times.end_id(); lane = next(lane)) {
        times[lane].exposed = result.lanes[lane].exposed;
    }
    result.lanes = std::move(times);
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
    Table<RankClassId, Breakdown> result;
    result.reserve(program.classes.size());
    for (const RankClass& rank_class : program.classes) {
        result.push_back(break_down(program, timeline, rank_class, compute, place));
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
        sum.idle += classes[id].idle * share;
        for (LaneId lane{}; lane != sum.lanes.end_id(); lane = next(lane)) {
            const LaneTime& time = classes[id].lanes[lane];
            sum.lanes[lane].transfer += time.transfer * share;
            sum.lanes[lane].exposed += time.exposed * share;
            sum.lanes[lane].waiting += time.waiting * share;
            sum.lanes[lane].calls += time.calls * share;
        }
    }
    return sum;
}

}  // namespace weft
