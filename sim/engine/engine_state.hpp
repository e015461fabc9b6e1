// What has happened in a run and what waits, whatever the network: the event loop (run.hpp) moves it on.
//
// What is the same of all classes that share a course is looked up where that is kept, which stays in a cache; tables
// of all ops, many times as large, hold what differs alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/contended_work.hpp"
#include "sim/engine/delay_queue.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/exchanges.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/program/program.hpp"

namespace weft {

struct ExchangeState {
    std::uint32_t missing = 0;      // parties that have not arrived, with the one that comes
    std::uint32_t step = 0;         // of ExchangeSteps: the one under way, or the first
    std::uint32_t first_party = 0;  // in ExchangeOps
};

// At most one op per lane of each class is under way, and with it one event or flow: its lane holds back the next.
inline std::size_t most_in_flight(const Program& program) {
    return std::min(program.ops.size(), program.classes.size() * program.lanes.size());
}

// All memory is allocated before the clock starts.
class EngineState {
  public:
    EngineState(const Program& program, LegTime leg_time)
        : program_(program),
          works_(program),
          contended_(program),
          parties_(program),
          steps_(program, leg_time),
          traits_(op_traits(program)),
          exchanges_(exchange_states(program, steps_, parties_)) {
        waits_for_.reserve(program.ops.size());
        for (const RankClass& one : program.classes) {
            for (std::uint32_t op = one.course; op < one.past_course(); ++op)
                waits_for_.push_back(program.ops.predecessors[op]);
        }
        ready_.reserve(most_in_flight(program));
        timeline_.spans = Table<OpId, Span>(program.ops.size(), {Instant::never(), Instant::never(), Instant::never()});
        if (program.routines.empty()) return;
        caller_ = Table<RankClassId, OpId>(program.classes.size());
        of_routine_ = Table<RankClassId, std::array<Span, 2>>(program.classes.size());
        reserve_parts(program, timeline_);
    }

  protected:
    enum class EventKind : std::uint8_t {
        work_over,     // subject: OpId of a compute op
        latency_over,  // subject: ExchangeId whose current step has waited out its latency
    };
    struct Event {
        std::uint32_t subject = 0;
        EventKind kind{};
    };

    void schedule(Instant at, EventKind kind, std::uint32_t subject) {
        events_.push(now_, at.femtoseconds - now_.femtoseconds, {subject, kind});
    }
    RankClassId class_of(OpId op) const { return program_.class_of(op); }
    std::int64_t work_of(OpId compute, RankClassId rank_class) const {
        const bool is_called = traits_[kept(compute, rank_class)].is_of_routine;
        return ticks(works_.of(compute, rank_class, is_called ? std::optional(caller_[rank_class]) : std::nullopt));
    }
    std::uint32_t kept(OpId op, RankClassId rank_class) const { return program_.ops.places.kept(op, rank_class); }
    std::span<const Party> parties_of(ExchangeId exchange) const {
        return parties_.between(exchanges_[exchange].first_party, exchanges_[next(exchange)].first_party);
    }
    // Those that wait for no other.
    std::vector<OpId> first_ops() const {
        std::vector<OpId> first;
        for (const RankClass& one : program_.classes) {
            for (OpId op{one.first_op}; index(op) < one.end_op(); op = next(op)) {
                if (waits_for_[op] == 0) first.push_back(op);
            }
        }
        return first;
    }

    // Of a routine at most a unit is under way in a class: an op, or two that follow one another.
    Span& span_of(OpId op, RankClassId rank_class) {
        const bool is_of_routine = traits_[kept(op, rank_class)].is_of_routine;
        return is_of_routine ? of_routine_[rank_class][index(op) % 2] : timeline_.spans[op];
    }

    // `end`: now, or before.
    void complete(OpId op, RankClassId rank_class, Instant end) {
        Span& span = span_of(op, rank_class);
        span.end = end;
        if (traits_[kept(op, rank_class)].is_of_routine) record_part(op, rank_class, span);
        pass_on(op, rank_class);
    }
    // Leaves the ops that waited for nothing else on ready_.
    void pass_on(OpId op) { pass_on(op, class_of(op)); }
    void pass_on(OpId op, RankClassId rank_class) {
        if (traits_[kept(op, rank_class)].leads_on) return release(next(op), rank_class);
        for (const OpId successor : program_.ops.successors_of(op, rank_class)) release(successor, rank_class);
    }
    void release(OpId op, RankClassId rank_class) {
        const std::uint32_t number = kept(op, rank_class);
        if (!traits_[number].waits_for_one) {
            std::uint32_t& waits_for = waits_for_[op];
            if (--waits_for != 0) return;
            if (traits_[number].is_of_routine) waits_for = program_.ops.predecessors[number];
        }
        ready_.push_back(op);
    }

    // An op of a routine that did not go as planned. Its exchange starts anew the next time: nobody can come to that
    // before all are through with this one.
    void record_part(OpId op, RankClassId rank_class, const Span& span) {
        RoutineParts& parts = timeline_.parts[rank_class];
        const RoutinePart part{.first = static_cast<std::uint32_t>(op),
                               .ops = 1,
                               .posted = span.posted,
                               .begin = span.begin,
                               .over = span.end};
        // Of two side by side the second may have been over first.
        if (!traits_[kept(op, rank_class)].leads_on && parts.last().ops > 0 && parts.last().first == part.end()) {
            parts.add_before_last(part);
        } else {
            parts.add(part);
        }
        const Op& what = program_.ops.shared(op, rank_class);
        if (what.kind != OpKind::exchange) return;
        const ExchangeId id = program_.ops.exchange(what, rank_class);
        const Exchange& exchange = program_.exchanges[id];
        exchanges_[id].step = steps_.first(exchange.communication);
        exchanges_[id].missing = exchange.parties;
    }

    // Of the run, in timeline_; throws Deadlock if an op has not ended.
    void note_end() {
        for (const RankClass& rank_class : program_.classes) {
            for (std::uint32_t op = rank_class.first_op; op < rank_class.end_op(); ++op) {
                const Instant end = timeline_.spans[OpId{op}].end;
                if (end == Instant::never()) throw Deadlock(explain_deadlock(program_));
                timeline_.end = std::max(timeline_.end, end);
            }
        }
    }

    // Of an op that is kept.
    struct OpTraits {
        bool is_of_routine : 1 = false;  // it waits anew each time
        bool is_head : 1 = false;        // of what may run ahead
        bool waits_for_one : 1 = false;  // which need not be counted
        bool leads_on : 1 = false;       // nothing waits for it but the op after it, as it is with nearly all
    };
    static std::vector<OpTraits> op_traits(const Program& program) {
        const Operations& ops = program.ops;
        std::vector<OpTraits> traits(ops.kept.size());
        for (std::uint32_t op = 0; op < traits.size(); ++op) {
            const std::uint32_t first = ops.successor_start[op];
            traits[op].waits_for_one = ops.predecessors[op] == 1;
            traits[op].leads_on = ops.successor_start[op + 1] == first + 1 && ops.successors[first] == op + 1;
        }
        for (const Routine& routine : program.routines) {
            for (std::uint32_t i = 0; i <= routine.ops; ++i) traits[routine.first_op + i].is_of_routine = true;
        }
        return traits;
    }

    static Table<ExchangeId, ExchangeState> exchange_states(const Program& program, const ExchangeSteps& steps,
                                                            const ExchangeOps& parties) {
        Table<ExchangeId, ExchangeState> states(program.exchanges.size() + 1);
        for (ExchangeId id{}; id != program.exchanges.end_id(); id = next(id)) {
            const Exchange& exchange = program.exchanges[id];
            states[id] = {exchange.parties, steps.first(exchange.communication), parties.first(id)};
        }
        states[program.exchanges.end_id()].first_party = parties.first(program.exchanges.end_id());
        return states;
    }

    // A part of a routine is at least one op.
    static void reserve_parts(const Program& program, Timeline& timeline) {
        timeline.parts.reserve(program.classes.size());
        for (const RankClass& rank_class : program.classes) {
            timeline.parts.push_back({});
            (timeline.parts.end() - 1)->reserve(program.repeated_ops(rank_class));
        }
    }

    const Program& program_;
    DelayQueue<Event> events_;
    ComputeTimes works_;
    ContendedWork contended_;  // computation, where communication slows it; else its ends are events_
    ExchangeOps parties_;
    ExchangeSteps steps_;
    Timeline timeline_;
    std::vector<OpTraits> traits_;                // of ops that are kept
    Table<OpId, std::uint32_t> waits_for_;        // of each, how many predecessors are not over; of one it stays one
    Table<ExchangeId, ExchangeState> exchanges_;  // and one that tells where the parties of the last one end
    Table<RankClassId, OpId> caller_;             // whose routine is under way
    Table<RankClassId, std::array<Span, 2>> of_routine_;  // span_of what is under way
    std::vector<OpId> ready_;                             // stack: order within an instant affects no time
    Instant now_;
};

}  // namespace weft
