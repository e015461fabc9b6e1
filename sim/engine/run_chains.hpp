// How the event loop and chains give way to one another: the part of sim/engine/run.hpp that includes this.
#pragma once

#include "sim/engine/run.hpp"

namespace weft {

// When everything of an instant has happened: brings what is under way in line with it. Returns the next instant.
template <NetworkModel N>
Instant Engine<N>::settle() {
    if (!chains_) {
        contended_.settle(now_);
        return std::min({events_.next(), contended_.next(), network_.next_change()});
    }
    for (;;) {
        while (!heads_.empty() || !disturbed_.empty()) {
            begin_chains();
            turn_disturbed_chains();
        }
        if (is_due()) return now_;
        contended_.settle(now_);
        const Instant change = network_.next_change();
        network_.take_crowded_out(crowded_out_);
        if (crowded_out_.empty()) return std::min({events_.next(), contended_.next(), chains_->next(), change});
        stop_crowded_out_chains();
    }
}

// Whether more happens at this instant, which has to be known before the network solves: its flows are exact only as
// long as nobody asks how far they have come.
template <NetworkModel N>
bool Engine<N>::is_due() const {
    return std::min(events_.next(), contended_.next()) == now_ || (chains_ && chains_->next() == now_);
}

template <NetworkModel N>
void Engine<N>::handle_chain() {
    const OpId last = chains_->pop(timeline_, asked_);
    timeline_.spans[last].end = now_;
    pass_on(last);
    post_ready();
}

template <NetworkModel N>
void Engine<N>::begin_chains() {
    while (!heads_.empty()) {
        const OpId head = heads_.back();
        heads_.pop_back();
        const auto rank_class = static_cast<std::uint32_t>(program_.class_of(head));
        const std::optional<OpId> caller =
            is_of_routine(head) ? std::optional(caller_[RankClassId{rank_class}]) : std::nullopt;
        if (!contended_.is_under_way(rank_class) &&
            chains_->begin(now_, rank_class, head, caller, contended_.beside(rank_class))) {
            continue;
        }
        post_alone(head);
        post_ready();
    }
}

template <NetworkModel N>
void Engine<N>::turn_disturbed_chains() {
    while (!disturbed_.empty()) {
        const std::uint32_t rank_class = disturbed_.back();
        disturbed_.pop_back();
        if (!chains_->is_under_way(rank_class, now_)) continue;
        const Disturbance beside = contended_.beside(rank_class);
        // Computation beside a chain is slowed by the exchanges of the chain.
        const bool goes_on =
            !contended_.is_under_way(rank_class) &&
            (chains_->beside(rank_class) == beside || chains_->turn(rank_class, now_, beside, timeline_, asked_));
        if (!goes_on) stop_chain(rank_class);
    }
}

template <NetworkModel N>
void Engine<N>::stop_crowded_out_chains() {
    for (const PatternId pattern : crowded_out_) disturbed_.push_back(chains_->lose_room(pattern));
    crowded_out_.clear();
    while (!disturbed_.empty()) {
        const std::uint32_t rank_class = disturbed_.back();
        disturbed_.pop_back();
        if (chains_->is_under_way(rank_class, now_)) stop_chain(rank_class);
    }
}

template <NetworkModel N>
void Engine<N>::stop_chain(std::uint32_t rank_class) {
    take_over(chains_->stop(rank_class, now_, timeline_, asked_));
}

// The link that was under way goes on op by op.
template <NetworkModel N>
void Engine<N>::take_over(const Standing& standing) {
    const ChainLink& link = standing.link;
    const auto first = static_cast<std::uint32_t>(link.first), last = first + link.ops - 1;
    if (link.begin == now_) {
        for (std::uint32_t op = first; op <= last; ++op) ready_.push_back(OpId{op});
        return post_ready();
    }
    for (std::uint32_t op = first; op <= last; ++op) {
        timeline_.spans[OpId{op}] = {link.begin, link.begin, Instant::never()};
        if (program_.ops[OpId{op}].kind == OpKind::exchange) {
            take_over_exchange(OpId{op}, link);
        } else {
            take_over_computation(OpId{op}, standing);
        }
    }
}

// One of two ops may be over; the other keeps all others waiting.
template <NetworkModel N>
void Engine<N>::take_over_exchange(OpId op, const ChainLink& link) {
    const auto exchange = ExchangeId(program_.ops[op].subject);
    const auto [step, since] = chains_->record_steps(exchange, link.begin, now_, timeline_, asked_);
    const ExchangeSteps::Step& what = steps_[step];
    if (what.kind == ExchangeSteps::Kind::end) return complete(op, since);
    progress_[exchange].step = step;
    begin_transfer(exchange);
    if (what.kind == ExchangeSteps::Kind::latency) {
        events_.schedule(after(since, what.ticks), EventKind::latency_over, static_cast<std::uint32_t>(exchange));
    } else {
        watch_flow(network_.resume(now_, what.pattern, what.bytes, since), exchange, what.bytes);
    }
}

template <NetworkModel N>
void Engine<N>::take_over_computation(OpId op, const Standing& standing) {
    const Instant over = standing.link.computation_over;
    if (over <= now_) {
        ++timeline_.events;
        complete(op, over);
    } else if (contended_.concerns(program_.ops[op])) {
        contended_.resume(now_, op, work_[program_.ops[op].subject], standing.progress, standing.beside);
    } else {
        events_.schedule(over, EventKind::work_over, static_cast<std::uint32_t>(op));
    }
}

// Something begins or ends beside the chain of a class, if it has one.
template <NetworkModel N>
void Engine<N>::disturb(std::uint32_t rank_class) {
    if (chains_ && chains_->is_under_way(rank_class, now_)) disturbed_.push_back(rank_class);
}

template <NetworkModel N>
void Engine<N>::begin_transfer(ExchangeId exchange) {
    if (!contended_.is_needed()) return;
    for (const Party& party : parties_.of(exchange)) {
        contended_.begin_transfer(party.rank_class);
        disturb(party.rank_class);
    }
}

template <NetworkModel N>
void Engine<N>::end_transfer(ExchangeId exchange) {
    if (!contended_.is_needed()) return;
    for (const Party& party : parties_.of(exchange)) {
        contended_.end_transfer(party.rank_class);
        disturb(party.rank_class);
    }
}

}  // namespace weft
