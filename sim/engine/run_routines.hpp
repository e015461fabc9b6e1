// What the event loop keeps of runs of routines: the part of sim/engine/run.hpp that includes this.
#pragma once

#include "sim/engine/run.hpp"

namespace weft {

// A part of a routine is at least one op.
template <NetworkModel N>
void Engine<N>::reserve_routines() {
    if (program_.routines.empty()) return;
    caller_ = Table<RankClassId, OpId>(program_.classes.size());
    std::size_t parts = 0;
    for (const RankClass& rank_class : program_.classes) {
        for (std::uint32_t op = rank_class.begin_op(); op < rank_class.end_op(); ++op) {
            if (op < rank_class.first_op) waits_for_[OpId{op}] += of_routine;
            const Op& what = program_.ops[OpId{op}];
            if (what.kind == OpKind::routine) parts += program_.routines[RoutineId(what.subject)].ops;
        }
    }
    timeline_.parts.reserve(parts);
}

// An op of a routine that did not go as planned.
template <NetworkModel N>
void Engine<N>::record_part(OpId op, const Span& span) {
    const OpId caller = caller_[program_.class_of(op)];
    const std::uint32_t number =
        static_cast<std::uint32_t>(op) - program_.routines[RoutineId(program_.ops[caller].subject)].first_op;
    timeline_.parts.push_back({.caller = caller,
                               .first = number,
                               .end = number + 1,
                               .begin = span.begin,
                               .first_over = span.end,
                               .second_over = span.end});
}

template <NetworkModel N>
void Engine<N>::finish_timeline() {
    for (const RankClass& rank_class : program_.classes) {
        for (std::uint32_t op = rank_class.first_op; op < rank_class.end_op(); ++op) {
            const Instant end = timeline_.spans[OpId{op}].end;
            if (end == Instant::never()) throw Deadlock(explain_deadlock(program_, timeline_.spans));
            timeline_.end = std::max(timeline_.end, end);
        }
    }
    if (chains_) (*std::move(chains_)).finish(timeline_, asked_);
    sort_parts(program_, timeline_);
}

}  // namespace weft
