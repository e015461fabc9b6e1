// What has happened in a run and what waits, whatever the network: the event loop (run.hpp) moves it on.
//
// What is read and written of an op, and of an exchange, whenever something happens to it lies together. A large
// program has tables many times as large as a cache, and every op is somewhere else in them: eight ops, or five
// exchanges, on a cache line.
#pragma once

#include <algorithm>
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

// Which rank class an op belongs to, at hand while time runs: of every so many ops the class of the first is known, and
// the right one is there or a little further on. That much stays in a cache, which a table of all ops does not.
class ClassOfOp {
  public:
    explicit ClassOfOp(const Program& program) {
        ends_.reserve(program.classes.size());
        near_.reserve(program.ops.size() / stride + 1);
        for (const RankClass& rank_class : program.classes) {
            const RankClassId id = ends_.push_back(rank_class.end_op());
            while (near_.size() * stride < rank_class.end_op()) near_.push_back(id);
        }
    }

    RankClassId operator[](OpId op) const {
        RankClassId id = near_[index(op) / stride];
        while (ends_[id] <= index(op)) id = next(id);
        return id;
    }

  private:
    static constexpr std::size_t stride = 64;

    Table<RankClassId, std::uint32_t> ends_;  // the op past the last one of each class
    std::vector<RankClassId> near_;           // classes of ops 0, `stride`, ...
};

struct OpState {
    static constexpr std::uint32_t most_predecessors = (1U << 24U) - 1;

    std::uint32_t waits_for : 24 = 0;  // predecessors that are not over; of a routine's op they start anew each time
    std::uint32_t is_of_routine : 1 = 0;
    std::uint32_t is_head : 1 = 0;      // of what may run ahead
    std::uint32_t leads_on : 1 = 0;     // nothing waits for it but the op after it, as it is with nearly all
    std::uint32_t first_successor = 0;  // Program::successor_start
};
static_assert(sizeof(OpState) == 8);

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
          class_of_(program),
          works_(program),
          contended_(program),
          parties_(program),
          steps_(program, leg_time),
          ops_(op_states(program)),
          exchanges_(exchange_states(program, steps_, parties_)) {
        ready_.reserve(most_in_flight(program));
        timeline_.spans = Table<OpId, Span>(program.ops.size(), {Instant::never(), Instant::never(), Instant::never()});
        if (program.routines.empty()) return;
        caller_ = Table<RankClassId, OpId>(program.classes.size());
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
    std::int64_t work_of(OpId compute) const {
        if (works_.are_constant()) return ticks(program_.work[program_.ops[compute].subject]);
        const RankClassId rank_class = class_of_[compute];
        return ticks(works_.of(compute, program_.classes[rank_class].representative, caller_of(compute, rank_class)));
    }
    std::optional<OpId> caller_of(OpId op, RankClassId rank_class) const {
        return ops_[op].is_of_routine ? std::optional(caller_[rank_class]) : std::nullopt;
    }
    std::span<const OpId> successors_of(OpId op) const {
        const OpId* const all = program_.successors.data();
        return {all + ops_[op].first_successor, all + ops_[next(op)].first_successor};
    }
    std::span<const Party> parties_of(ExchangeId exchange) const {
        return parties_.between(exchanges_[exchange].first_party, exchanges_[next(exchange)].first_party);
    }
    // Whether an op waits for no other when the run begins.
    bool is_first(OpId op) const {
        return ops_[op].waits_for == 0 && program_.predecessors[op] == 0 && !ops_[op].is_of_routine;
    }

    // `end`: now, or before.
    void complete(OpId op, Instant end) {
        Span& span = timeline_.spans[op];
        span.end = end;
        if (ops_[op].is_of_routine) record_part(op, span);
        pass_on(op);
    }
    // Leaves the ops that waited for nothing else on ready_.
    void pass_on(OpId op) {
        if (ops_[op].leads_on) return release(next(op));
        for (const OpId successor : successors_of(op)) release(successor);
    }
    void release(OpId op) {
        OpState& state = ops_[op];
        if (--state.waits_for != 0) return;
        if (state.is_of_routine) state.waits_for = program_.predecessors[op] & OpState::most_predecessors;
        ready_.push_back(op);
    }

    // An op of a routine that did not go as planned. Its exchange starts anew the next time: nobody can come to that
    // before all are through with this one.
    void record_part(OpId op, const Span& span) {
        RoutineParts& parts = timeline_.parts[class_of_[op]];
        const RoutinePart part{.first = static_cast<std::uint32_t>(op),
                               .ops = 1,
                               .posted = span.posted,
                               .begin = span.begin,
                               .over = span.end};
        // Of two side by side the second may have been over first.
        if (!ops_[op].leads_on && parts.last().ops > 0 && parts.last().first == part.end()) {
            parts.add_before_last(part);
        } else {
            parts.add(part);
        }
        if (program_.ops[op].kind != OpKind::exchange) return;
        const auto id = ExchangeId(program_.ops[op].subject);
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

    static Table<OpId, OpState> op_states(const Program& program) {
        Table<OpId, OpState> states(program.ops.size() + 1);
        for (OpId id{}; id != program.ops.end_id(); id = next(id)) {
            WEFT_CHECK(program.predecessors[id] <= OpState::most_predecessors, "an op waits for too many others");
            OpState& state = states[id];
            state.waits_for = program.predecessors[id] & OpState::most_predecessors;
            const std::span<const OpId> successors = program.successors_of(id);
            state.leads_on = successors.size() == 1 && successors.front() == next(id) ? 1 : 0;
            state.first_successor = program.successor_start[index(id)];
        }
        states[program.ops.end_id()].first_successor = program.successor_start.back();
        for (const RankClass& rank_class : program.classes) {
            for (std::uint32_t op = rank_class.begin_op(); op < rank_class.first_op; ++op) {
                states[OpId{op}].is_of_routine = 1;
            }
        }
        return states;
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
            std::size_t parts = 0;
            for (std::uint32_t op = rank_class.first_op; op < rank_class.end_op(); ++op) {
                const Op& what = program.ops[OpId{op}];
                if (what.kind == OpKind::routine) parts += program.routines[RoutineId(what.subject)].ops;
            }
            timeline.parts.push_back({});
            (timeline.parts.end() - 1)->reserve(parts);
        }
    }

    const Program& program_;
    DelayQueue<Event> events_;
    ClassOfOp class_of_;
    ComputeTimes works_;
    ContendedWork contended_;  // computation, where communication slows it; else its ends are events_
    ExchangeOps parties_;
    ExchangeSteps steps_;
    Timeline timeline_;
    Table<OpId, OpState> ops_;                    // and one that tells where the successors of the last one end
    Table<ExchangeId, ExchangeState> exchanges_;  // and one that tells where the parties of the last one end
    Table<RankClassId, OpId> caller_;             // whose routine is under way
    std::vector<OpId> ready_;                     // stack: order within an instant affects no time
    Instant now_;
};

}  // namespace weft
