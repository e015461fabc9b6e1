#include "sim/engine/engine_state.hpp"

#include "sim/base/check.hpp"
#include "sim/engine/engine.hpp"

namespace weft {
namespace {

Table<OpId, OpState> op_states(const Program& program) {
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

Table<ExchangeId, ExchangeState> exchange_states(const Program& program, const ExchangeSteps& steps,
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
void reserve_parts(const Program& program, Timeline& timeline) {
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

}  // namespace

EngineState::EngineState(const Program& program, LegTime leg_time)
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

// An op of a routine that did not go as planned. Its exchange starts anew the next time: nobody can come to that before
// all are through with this one.
void EngineState::record_part(OpId op, const Span& span) {
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

void EngineState::note_end() {
    for (const RankClass& rank_class : program_.classes) {
        for (std::uint32_t op = rank_class.first_op; op < rank_class.end_op(); ++op) {
            const Instant end = timeline_.spans[OpId{op}].end;
            if (end == Instant::never()) throw Deadlock(explain_deadlock(program_));
            timeline_.end = std::max(timeline_.end, end);
        }
    }
}

}  // namespace weft
