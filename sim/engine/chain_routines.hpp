// Chains in routines. All that is the same in every run of a routine is known before, so neither their ends nor what is
// over by now takes a look at every link. The part of sim/engine/chain_runner.hpp that includes this.
#pragma once

#include "sim/engine/chain_runner.hpp"
#include "sim/engine/part_links.hpp"

namespace weft {

template <NetworkModel N>
bool ChainRunner<N>::look_ahead_in_routine(Run& run, std::uint32_t rank_class, std::uint32_t fewest) {
    std::uint32_t end = reserve_in_routine(run, rank_class);
    while (end > run.first && routine_times_.is_second(run.routine, number_in_routine(run, end - 1))) end -= 2;
    if (end < run.first + fewest) return false;
    const Instant over = begin_in_routine(run, link_at(run, run.first, run.begin), end);
    const std::int64_t whole = routine_times_.begin(run.routine, number_in_routine(run, end), run.beside);
    if (std::max(over.femtoseconds, whole) >= end_of_clock) return false;
    run.end = end;
    ends_.set(RankClassId{rank_class}, over);
    return true;
}

// Returns the first op for which there is no room.
template <NetworkModel N>
std::uint32_t ChainRunner<N>::reserve_in_routine(Run& run, std::uint32_t rank_class) {
    std::uint32_t end = chains_.end(run.first);
    for (const RoutinePatterns::Use& use : routine_patterns_.of(run.routine)) {
        if (use.last < run.first || reserve(run, rank_class, use.pattern)) continue;
        end = std::min(end, routine_patterns_.next_use(use.pattern, run.first));
    }
    return end;
}

// Of a link after the first, or of what follows the last.
template <NetworkModel N>
Instant ChainRunner<N>::begin_in_routine(const Run& run, const ChainLink& first, std::uint32_t op) const {
    const std::uint32_t second = number_in_routine(run, run.first + first.ops);
    return after_or_end(first.over(), routine_times_.begin(run.routine, number_in_routine(run, op), run.beside) -
                                          routine_times_.begin(run.routine, second, run.beside));
}

template <NetworkModel N>
ChainLink ChainRunner<N>::record_in_routine(const Run& run, Instant until, Timeline& timeline) {
    const ChainLink first = link_at(run, run.first, run.begin);
    if (first.over() > until) return first;
    const std::uint32_t number = number_in_routine(run, run.first), end = number_in_routine(run, run.end);
    const std::int64_t second_begin = routine_times_.begin(run.routine, number + first.ops, run.beside);
    const std::uint32_t next =
        routine_times_.last_begun(run.routine, number + first.ops, end,
                                  second_begin + until.femtoseconds - first.over().femtoseconds, run.beside);
    timeline.parts.push_back({.caller = *run.caller,
                              .first = number,
                              .end = next,
                              .begin = run.begin,
                              .first_over = first.ops == 2 ? first.exchange_over : first.over(),
                              .second_over = first.computation_over,
                              .beside = run.beside});
    if (network_.is_recorded()) record_flows(timeline);
    const std::size_t slot = routine_times_.slot(run.routine);
    ++passes_[slot + number];
    --passes_[slot + next];
    if (next == end) return first;
    const std::uint32_t op = run.first + (next - number);
    return link_at(run, op, begin_in_routine(run, first, op));
}

// When each flow of the part recorded last moved.
template <NetworkModel N>
void ChainRunner<N>::record_flows(const Timeline& timeline) {
    const auto record = [this](OpId op, Instant begin, Instant) {
        if (program_.ops[op].kind != OpKind::exchange) return;
        for (std::uint32_t at = steps_.first(links_.communication_of(op)); steps_[at].kind != ExchangeSteps::Kind::end;
             ++at) {
            const Instant end{begin.femtoseconds + links_.ticks_of_step(at)};
            if (steps_[at].kind == ExchangeSteps::Kind::flow) {
                network_.record(steps_[at].pattern, steps_[at].bytes, begin, end);
            }
            begin = end;
        }
    };
    const RoutinePart& part = timeline.parts.back();
    const PartLinks links(program_, routine_times_, part);
    links.visit_first(record);
    links.visit(links.second(), part.end, record);
}

template <NetworkModel N>
void ChainRunner<N>::finish(Timeline& timeline, Bytes& asked) && {
    for (RoutineId id{}; id != program_.routines.end_id(); id = weft::next(id)) {
        std::int64_t passes = 0;
        for (std::uint32_t i = 0; i < program_.routines[id].ops; ++i) {
            passes += passes_[routine_times_.slot(id) + i];
            count(OpId{program_.routines[id].first_op + i}, passes, timeline, asked);
        }
    }
    timeline.routine_times = std::move(routine_times_);
}

// An op of a routine that went as planned so often.
template <NetworkModel N>
void ChainRunner<N>::count(OpId op, std::int64_t passes, Timeline& timeline, Bytes& asked) {
    const auto times = static_cast<double>(passes);
    if (program_.ops[op].kind == OpKind::compute) timeline.events += static_cast<std::uint64_t>(passes);
    if (program_.ops[op].kind != OpKind::exchange) return;
    for (const ExchangeSteps::Step& step : steps_.of(links_.communication_of(op))) {
        timeline.events += static_cast<std::uint64_t>(passes);
        if (step.kind != ExchangeSteps::Kind::flow) continue;
        network_.deliver(step.pattern, step.bytes, times);
        asked += step.bytes * times;
    }
}

}  // namespace weft
