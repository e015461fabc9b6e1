// The breakdown of one rank class after another.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/attribution.hpp"
#include "sim/engine/breakdown.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/program/program.hpp"

namespace weft {

// Every kind of call of a program: lane, operation, group size, message and method. Few, so a sorted list.
class CallKinds {
  public:
    CallKinds(const Program& program, LaneId compute)
        : program_(program), compute_(compute), lanes_(program.lanes.size()) {
        std::map<std::tuple<Collective, std::uint32_t, Bytes, std::uint32_t>, std::uint32_t> shapes;
        for (const Communication& what : program.communications) {
            const auto next_shape = static_cast<std::uint32_t>(shapes.size());
            const std::tuple shape{what.op, what.group_size, what.message, what.method};
            shape_.push_back(shapes.try_emplace(shape, next_shape).first->second);
        }
        std::vector<bool> used(shapes.size() * lanes_, false);
        for_each_run(program, [&](const Op& op, std::uint32_t) {
            if (op.kind == OpKind::exchange)
                used[shape_[program.communication_of(op)] * lanes_ + index(lane_of(op))] = true;
        });
        slot_.resize(used.size());
        for (LaneId lane{}; index(lane) < lanes_; lane = next(lane)) {
            for (const auto& [shape, number] : shapes) {  // in the order of operation, group size, message and method
                const std::size_t i = number * lanes_ + index(lane);
                if (!used[i]) continue;
                slot_[i] = static_cast<std::uint32_t>(kinds_.size());
                const auto& [operation, group_size, message, method] = shape;
                kinds_.push_back({.lane = lane,
                                  .op = operation,
                                  .group_size = group_size,
                                  .message = message,
                                  .method = method,
                                  .messages = {},
                                  .time = {}});
            }
        }
    }

    // An exchange issued on the compute lane itself belongs to the dimension of its communication.
    LaneId lane_of(const Op& exchange) const { return exchange.lane != compute_ ? exchange.lane : dimension(exchange); }
    // Index into kinds().
    std::uint32_t of(const Op& exchange) const {
        return slot_[shape_[program_.communication_of(exchange)] * lanes_ + index(lane_of(exchange))];
    }
    const std::vector<CallTime>& kinds() const { return kinds_; }

  private:
    LaneId dimension(const Op& exchange) const {
        return program_.communications[program_.communication_of(exchange)].dimension;
    }

    const Program& program_;
    LaneId compute_;
    std::size_t lanes_;
    Table<CommunicationId, std::uint32_t> shape_;  // number of its kind, but for the lane
    std::vector<std::uint32_t> slot_;              // (shape, lane) -> index of the kind
    std::vector<CallTime> kinds_;
};

class ClassBreakdown {
  public:
    // All arguments must outlive this. `place`: of each lane in the order of priority; the compute lane has 0.
    ClassBreakdown(const Program& program, const Timeline& timeline, LaneId compute,
                   const Table<LaneId, std::uint32_t>& place)
        : program_(program),
          timeline_(timeline),
          works_(program),
          compute_(compute),
          place_(place),
          kinds_(program, compute),
          attribution_(program.lanes.size(), kinds_.kinds().size()) {
        std::size_t most = 0;
        for (const RankClass& rank_class : program.classes) most = std::max<std::size_t>(most, rank_class.routine_ops);
        passes_.fill(std::vector<std::int64_t>(most + 1, 0));
    }

    Breakdown of(RankClassId id) {
        clear();
        const RankClass& rank_class = program_.classes[id];
        std::optional<RoutineParts::Reader> parts;
        if (!timeline_.parts.empty()) parts.emplace(timeline_.parts[id]);
        begin_op_ = rank_class.begin_op();
        class_ = id;
        if (rank_class.routine_ops > 0) find_others(rank_class);
        for (OpId op{rank_class.first_op}; index(op) < rank_class.end_op(); op = next(op)) {
            if (program_.ops.shared(op, id).kind == OpKind::routine) {
                parts->visit_run(program_.routine_of(op, id), [&](const RoutinePart& part) { add_part(part, op); });
            } else {
                add(op, timeline_.spans[op]);
            }
        }
        add_passes(rank_class);
        return take();
    }

  private:
    // Sums of ticks. A lane and what is issued on the compute lane in its name may each take all of the time.
    struct Ticks {
        std::uint64_t transfer = 0, waiting = 0, calls = 0;
        void add(const Span& span, std::uint64_t times) {
            transfer += times * static_cast<std::uint64_t>(span.end.femtoseconds - span.begin.femtoseconds);
            waiting += times * static_cast<std::uint64_t>(span.begin.femtoseconds - span.posted.femtoseconds);
            calls += times;
        }
        LaneTime time(Seconds exposed) const {
            return {.transfer = {static_cast<double>(transfer) / Instant::ticks_per_second},
                    .exposed = exposed,
                    .waiting = {static_cast<double>(waiting) / Instant::ticks_per_second},
                    .calls = static_cast<double>(calls)};
        }
    };
    struct Interval {
        Instant begin, end;
    };

    void clear() {
        attribution_.clear();
        lanes_ = Table<LaneId, Ticks>(program_.lanes.size());
        calls_.assign(kinds_.kinds().size(), {});
        messages_.assign(calls_.size(), {});
        delays_ = 0;
    }

    void add(OpId id, const Span& span, std::optional<OpId> caller = {}) {
        const Op op = op_of(id);
        if (op.kind == OpKind::compute) {
            attribution_.add(op.lane, {span.begin, span.end, place_of(op)});
            delays_ += delay(id, span, caller);
        }
        if (op.kind != OpKind::exchange) return;
        attribution_.add(op.lane, {span.begin, span.end, place_of(op), kinds_.of(op)});
        count(op, span, 1);
    }

    void count(const Op& op, const Span& span, std::uint64_t times) {
        const LaneId lane = kinds_.lane_of(op);
        WEFT_CHECK(lane != compute_, "a communication needs a lane of its own");
        const std::uint32_t kind = kinds_.of(op);
        lanes_[lane].add(span, times);
        calls_[kind].add(span, times);
        const CommunicationId id = program_.communication_of(op);
        messages_[kind] += program_.communications[id].message * static_cast<double>(times);
    }

    // By how many ticks a compute op took longer than it would have undisturbed.
    std::int64_t delay(OpId op, const Span& span, std::optional<OpId> caller) const {
        if (program_.ops.shared(op, class_).lane != program_.contended) return 0;
        return span.end.femtoseconds - (span.begin + works_.of(op, class_, caller)).femtoseconds;
    }
    Op op_of(OpId id) const { return program_.ops.at(id, class_); }
    // What computes beside the compute lane comes after all lanes.
    std::uint32_t place_of(const Op& op) const {
        if (op.kind == OpKind::exchange) return place_[kinds_.lane_of(op)];
        return op.lane == compute_ ? 0 : static_cast<std::uint32_t>(program_.lanes.size());
    }

    // A class computes one thing at a time on its compute lane.
    void find_others(const RankClass& rank_class) {
        others_.clear();
        for (OpId op{rank_class.first_op}; index(op) < rank_class.end_op(); op = next(op)) {
            const Span& span = timeline_.spans[op];
            const Op& what = program_.ops.shared(op, class_);
            const bool is_other =
                what.kind == OpKind::exchange || (what.kind == OpKind::compute && what.lane != compute_);
            if (is_other && span.begin < span.end) others_.push_back({span.begin, span.end});
        }
        std::ranges::sort(others_, {}, &Interval::begin);
        std::size_t last = 0;
        for (std::size_t i = 1; i < others_.size(); ++i) {
            if (others_[i].begin <= others_[last].end) {
                others_[last].end = std::max(others_[last].end, others_[i].end);
            } else {
                others_[++last] = others_[i];
            }
        }
        if (!others_.empty()) others_.resize(last + 1);
    }

    // The units beside which something else may go on are looked at one by one.
    void add_part(const RoutinePart& part, OpId caller) {
        const auto visit = [&](OpId op, const Span& span) { add(op, span, caller); };
        if (part.is_one_op()) return timeline_.visit(class_, part, visit);
        const auto other =
            std::ranges::partition_point(others_, [&part](const Interval& one) { return one.end <= part.begin; });
        std::uint32_t from = part.end(), to = part.end();
        if (other != others_.end() && other->begin < part.over) {
            auto last = other;
            while (last + 1 != others_.end() && (last + 1)->begin < part.over) ++last;
            const RoutineTimes::OfClass times = timeline_.routine_times.of(class_);
            const std::int64_t start = part.begin.femtoseconds - times.begin(part.first, part.beside);
            const auto last_begun = [&](Instant by) {
                return times.last_begun(part.first, part.end(), by.femtoseconds - start, part.beside);
            };
            from = last_begun(std::max(other->begin, part.begin));
            to = last_begun(last->end);
            if (start + times.begin(to, part.beside) < last->end.femtoseconds) to += times.ops_of_unit(to);
            times.visit(from, to, {start + times.begin(from, part.beside)}, part.beside,
                        [&visit](OpId op, Instant begin, Instant end) {
                            visit(op, {begin, begin, end});
                        });
        }
        pass_by(part.first, from, part.beside);
        pass_by(to, part.end(), part.beside);
    }

    void pass_by(std::uint32_t first, std::uint32_t end, Disturbance beside) {
        if (first == end) return;
        std::vector<std::int64_t>& passes = passes_[static_cast<std::size_t>(beside)];
        ++passes[first - begin_op_];
        --passes[end - begin_op_];
    }

    void add_passes(const RankClass& rank_class) {
        if (timeline_.routine_times.empty()) return;
        const RoutineTimes::OfClass times = timeline_.routine_times.of(class_);
        for (const Disturbance beside : {Disturbance::none, Disturbance::transfer}) {
            std::vector<std::int64_t>& passes = passes_[static_cast<std::size_t>(beside)];
            std::int64_t sum = 0;
            for (std::uint32_t op = begin_op_; op < rank_class.first_op; ++op) {
                sum += std::exchange(passes[op - begin_op_], 0);
                if (sum > 0 && times.end(op) > 0) {
                    add_passes(op, static_cast<std::uint64_t>(sum), beside);
                }
            }
        }
    }

    // Of two ops side by side the one with the lower place has the time that they share.
    void add_passes(std::uint32_t unit, std::uint64_t passes, Disturbance beside) {
        const RoutineTimes::OfClass times = timeline_.routine_times.of(class_);
        const std::uint32_t ops = times.ops_of_unit(unit);
        const auto op = [&](std::uint32_t i) { return op_of(OpId{unit + i}); };
        const bool second_comes_first = ops == 2 && place_of(op(1)) < place_of(op(0));
        std::int64_t taken = 0;
        for (std::uint32_t n = 0; n < ops; ++n) {
            const std::uint32_t i = second_comes_first ? 1 - n : n;
            const std::int64_t ticks = times.over(unit + i, beside) - times.begin(unit + i, beside);
            const Span span{{}, {}, {ticks}};
            if (op(i).kind == OpKind::exchange) count(op(i), span, passes);
            if (op(i).kind == OpKind::compute) {
                delays_ += delay(OpId{unit + i}, span, {}) * static_cast<std::int64_t>(passes);
            }
            if (ticks <= taken) continue;
            const std::uint32_t kind = op(i).kind == OpKind::exchange ? kinds_.of(op(i)) : 0;
            attribution_.pass(place_of(op(i)), kind, (ticks - taken) * static_cast<std::int64_t>(passes));
            taken = ticks;
        }
    }

    Breakdown take() {
        Breakdown result;
        result.idle = attribution_.run(timeline_.end);
        result.busy = attribution_.busy();
        result.interference = since_start({delays_});
        result.beside = attribution_.busy_beside();
        for (LaneId lane{}; lane != lanes_.end_id(); lane = next(lane)) {
            const Seconds exposed = place_[lane] != 0 ? attribution_.exposed_at(place_[lane]) : Seconds{};
            result.lanes.push_back(lanes_[lane].time(exposed));
        }
        result.calls = kinds_.kinds();
        for (std::uint32_t kind = 0; kind < calls_.size(); ++kind) {
            result.calls[kind].messages = messages_[kind];
            result.calls[kind].time = calls_[kind].time(attribution_.exposed(kind));
        }
        return result;
    }

    const Program& program_;
    const Timeline& timeline_;
    ComputeTimes works_;
    LaneId compute_;
    const Table<LaneId, std::uint32_t>& place_;
    CallKinds kinds_;
    Attribution attribution_;
    Table<LaneId, Ticks> lanes_;
    std::vector<Ticks> calls_;     // by kind
    std::vector<Bytes> messages_;  // by kind
    std::int64_t delays_ = 0;
    // What might go on beside routines, in order of time, apart from one another.
    std::vector<Interval> others_;
    // Of the class at hand.
    std::uint32_t begin_op_ = 0;
    RankClassId class_{};
    // By disturbance and op from there on: how much more often it went by, with nothing else beside it, than the one
    // before.
    std::array<std::vector<std::int64_t>, 2> passes_;
};

}  // namespace weft
