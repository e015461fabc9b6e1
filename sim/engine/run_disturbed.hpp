// Of the event loop (run.hpp): how rank classes come to run ahead, and how they are stopped where something begins or
// ends beside them.
#pragma once

#include <cstdint>

#include "sim/engine/run.hpp"

namespace weft {

template <NetworkModel N>
void Engine<N>::begin_ahead() {
    while (!heads_.empty()) {
        const OpId head = heads_.back();
        heads_.pop_back();
        if constexpr (foresees) {
            const RankClassId rank_class = class_of_[head];
            if (!contended_.is_under_way(rank_class) &&
                ahead_.begin(now_, rank_class, head, ops_[head].is_of_routine, contended_.beside(rank_class))) {
                continue;
            }
        }
        post_alone(head);
        post_ready();
    }
}

template <NetworkModel N>
template <auto begin_or_end>
void Engine<N>::transfer(ExchangeId exchange) {
    if (!contended_.is_needed()) return;
    for (const Party& party : parties_of(exchange)) {
        (contended_.*begin_or_end)(party.rank_class);
        disturb(party.rank_class);
    }
}

// Something begins or ends beside what a class has under way.
template <NetworkModel N>
void Engine<N>::disturb(RankClassId rank_class) {
    if constexpr (foresees) {
        if (ahead_.is_under_way(rank_class, now_)) disturbed_.push_back(rank_class);
    }
}

// Computation beside what runs ahead is slowed by exchanges that no one else knows of.
template <NetworkModel N>
void Engine<N>::stop_disturbed() {
    while (!disturbed_.empty()) {
        const RankClassId rank_class = disturbed_.back();
        disturbed_.pop_back();
        if constexpr (foresees) {
            if (ahead_.is_under_way(rank_class, now_) &&
                (contended_.is_under_way(rank_class) || !ahead_.goes_on(rank_class, contended_.beside(rank_class)))) {
                take_over(rank_class);
            }
        }
    }
}

// Whether there are classes that run ahead, and the network has no room for them any more.
template <NetworkModel N>
bool Engine<N>::lose_room() {
    if constexpr (foresees) {
        network_.take_crowded_out(crowded_out_);
        for (const PatternId pattern : crowded_out_) disturbed_.push_back(ahead_.lose_room(pattern));
        crowded_out_.clear();
    }
    return !disturbed_.empty();
}

// The unit that is under way goes on op by op. One of two ops may be over; the other keeps all others waiting.
template <NetworkModel N>
void Engine<N>::take_over(RankClassId rank_class) {
    const auto unit = ahead_.stop(rank_class, now_);
    for (std::uint32_t i = 0; i < unit.ops; ++i) {
        const OpId op{unit.first + i};
        if (unit.begin == now_) {
            ready_.push_back(op);
            continue;
        }
        timeline_.spans[op] = {unit.begin, unit.begin, Instant::never()};
        if (program_.ops[op].kind == OpKind::exchange) {
            take_over_exchange(op, unit.begin);
        } else if (unit.over[i] <= now_) {
            ++timeline_.events;
            complete(op, unit.over[i]);
        } else if (contended_.concerns(program_.ops[op])) {
            const Instant transfer_over = i > 0 ? unit.over[0] : unit.begin;
            contended_.resume(now_, rank_class, op, work_of(op), unit.begin, unit.beside, transfer_over);
        } else {
            schedule(unit.over[i], EventKind::work_over, static_cast<std::uint32_t>(op));
        }
    }
    post_ready();
}

template <NetworkModel N>
void Engine<N>::take_over_exchange(OpId op, Instant begin) {
    const auto exchange = ExchangeId(program_.ops[op].subject);
    const auto [step, since] = ahead_.record_steps(op, begin, now_);
    const ExchangeSteps::Step& what = steps_[step];
    if (what.kind == ExchangeSteps::Kind::end) return complete(op, since);
    exchanges_[exchange].step = step;
    transfer<&ContendedWork::begin_transfer>(exchange);
    if (what.kind == ExchangeSteps::Kind::latency) {
        schedule(after(since, what.ticks), EventKind::latency_over, static_cast<std::uint32_t>(exchange));
    } else {
        watch_flow(network_.resume(now_, what.pattern, what.bytes, since), exchange, what.bytes);
    }
}

}  // namespace weft
