// The event loop: run() of sim/engine/engine.hpp. Include it only to run a network model of your own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/engine/class_of_op.hpp"
#include "sim/engine/contended_work.hpp"
#include "sim/engine/deadlock.hpp"
#include "sim/engine/delay_queue.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/exchange_ops.hpp"
#include "sim/engine/exchange_steps.hpp"
#include "sim/engine/link_sums.hpp"
#include "sim/engine/op_states.hpp"
#include "sim/engine/run_ahead.hpp"
#include "sim/engine/ticks.hpp"
#include "sim/network/carried.hpp"
#include "sim/program/compute_times.hpp"

namespace weft {

// At most one op per lane of each class is under way, and with it one event or flow: its lane holds back the next.
inline std::size_t most_in_flight(const Program& program) {
    return std::min(program.ops.size(), program.classes.size() * program.lanes.size());
}

// All memory is allocated before the clock starts.
template <NetworkModel N>
class Engine {
  public:
    Engine(const Program& program, N& network, LegTime leg_time = LegTime::real);
    Timeline run() &&;

  private:
    enum class EventKind : std::uint8_t {
        work_over,     // subject: OpId of a compute op
        latency_over,  // subject: ExchangeId whose current step has waited out its latency
    };
    struct Event {
        std::uint32_t subject = 0;
        EventKind kind{};
    };

    Instant settle();
    Instant next_of_own() const { return std::min({events_.next(), contended_.next(), ahead_.next()}); }
    void handle(const Event& event);
    void handle_contended();
    void handle_ahead();
    void handle_finished();
    void finish_timeline();
    void check_delivered() const;

    // Ops.
    void schedule(Instant at, EventKind kind, std::uint32_t subject) {
        events_.push(now_, at.femtoseconds - now_.femtoseconds, {subject, kind});
    }
    void post_ready();
    void post(OpId op);
    void post_alone(OpId op);
    void compute(OpId op, const Op& what);
    std::int64_t work_of(OpId compute) const {
        if (works_.are_constant()) return ticks(program_.work[program_.ops[compute].subject]);
        const RankClassId rank_class = class_of_[compute];
        return ticks(works_.of(compute, program_.classes[rank_class].representative, caller_of(compute, rank_class)));
    }
    std::optional<OpId> caller_of(OpId op, RankClassId rank_class) const {
        return ops_[op].is_of_routine ? std::optional(caller_[rank_class]) : std::nullopt;
    }
    void complete(OpId op, Instant end);
    void pass_on(OpId op);
    void release(OpId op);
    void record_part(OpId op, const Span& span);
    void reserve_routines();
    std::span<const OpId> successors_of(OpId op) const {
        const OpId* const all = program_.successors.data();
        return {all + ops_[op].first_successor, all + ops_[next(op)].first_successor};
    }

    // Exchanges.
    std::span<const Party> parties_of(ExchangeId exchange) const {
        return parties_.between(exchanges_[exchange].first_party, exchanges_[next(exchange)].first_party);
    }
    void arrive(ExchangeId exchange);
    void take_step(ExchangeId exchange);
    void watch_flow(FlowId flow, ExchangeId exchange, Bytes bytes);
    void step_over(ExchangeId exchange);
    void finish(ExchangeId exchange);
    template <auto begin_or_end>  // ContendedWork::begin_transfer or end_transfer
    void transfer(ExchangeId exchange);

    // What runs ahead, and gives way to what is beside it.
    void begin_ahead();
    void disturb(RankClassId rank_class);
    void stop_disturbed();
    bool lose_room();
    void take_over(RankClassId rank_class);
    void take_over_exchange(OpId op, Instant begin);

    static constexpr bool foresees = ForesightNetwork<N>;

    const Program& program_;
    N& network_;
    DelayQueue<Event> events_;
    ClassOfOp class_of_;
    ComputeTimes works_;
    ContendedWork contended_;  // computation, where communication slows it; else its ends are events_
    ExchangeOps parties_;
    ExchangeSteps steps_;
    Timeline timeline_;
    std::conditional_t<ForesightNetwork<N>, RunAhead<N>, NothingAhead<N>>
        ahead_;  // what is undisturbed; else ends are events of their own
    Table<OpId, OpState> ops_;
    Table<ExchangeId, ExchangeState> exchanges_;
    Table<RankClassId, OpId> caller_;  // whose routine is under way
    Table<FlowId, ExchangeId> flow_exchange_;
    std::vector<OpId> ready_;  // stack: order within an instant affects no time
    std::vector<FlowId> finished_;
    std::vector<ExchangeId> moved_on_;    // exchanges whose flows finished
    std::vector<OpId> heads_;             // of what may run ahead from now on
    std::vector<RankClassId> disturbed_;  // classes that run ahead beside which something began or ended
    std::vector<PatternId> crowded_out_;
    Instant now_;
    Bytes asked_;
};

template <NetworkModel N>
Engine<N>::Engine(const Program& program, N& network, LegTime leg_time)
    : program_(program),
      network_(network),
      class_of_(program),
      works_(program),
      contended_(program),
      parties_(program),
      steps_(program, leg_time),
      ahead_(program, steps_, network, timeline_),
      ops_(op_states(program, ahead_)),
      exchanges_(exchange_states(program, steps_, parties_)) {
    crowded_out_.reserve(program.patterns.size());
    const std::size_t most = most_in_flight(program);
    heads_.reserve(most);
    disturbed_.reserve(2 * most);
    flow_exchange_.reserve(most);
    ready_.reserve(most);
    finished_.reserve(most);
    moved_on_.reserve(most);
    timeline_.spans = Table<OpId, Span>(program.ops.size(), {Instant::never(), Instant::never(), Instant::never()});
    reserve_routines();
}

// A part of a routine is at least one op.
template <NetworkModel N>
void Engine<N>::reserve_routines() {
    if (program_.routines.empty()) return;
    caller_ = Table<RankClassId, OpId>(program_.classes.size());
    timeline_.parts.reserve(program_.classes.size());
    for (const RankClass& rank_class : program_.classes) {
        std::size_t parts = 0;
        for (std::uint32_t op = rank_class.first_op; op < rank_class.end_op(); ++op) {
            const Op& what = program_.ops[OpId{op}];
            if (what.kind == OpKind::routine) parts += program_.routines[RoutineId(what.subject)].ops;
        }
        timeline_.parts.push_back({});
        (timeline_.parts.end() - 1)->reserve(parts);
    }
}

template <NetworkModel N>
Timeline Engine<N>::run() && {
    for (OpId op{}; op != program_.ops.end_id(); op = next(op)) {
        if (ops_[op].waits_for != 0 || program_.predecessors[op] != 0 || ops_[op].is_of_routine) continue;
        ready_.push_back(op);
        post_ready();
    }
    for (;;) {
        // Everything of one instant happens before the network is asked again, so that it solves once per instant.
        while (events_.next() == now_) handle(events_.pop());
        while (contended_.next() == now_) handle_contended();
        while (ahead_.next() == now_) handle_ahead();
        const Instant next = settle();
        if (next == now_ && next_of_own() == now_) continue;
        now_ = next;
        if (now_ == Instant::never()) break;
        network_.advance(now_, finished_);
        handle_finished();
    }
    finish_timeline();
    if (asked_ > Bytes{}) check_delivered();
    timeline_.solves = network_.solves();
    return std::move(timeline_);
}

// When everything of an instant has happened: brings what is under way in line with it. Returns the next instant.
// Whether more happens at this one has to be known before the network solves: its flows are exact only as long as
// nobody asks how far they have come.
template <NetworkModel N>
Instant Engine<N>::settle() {
    for (;;) {
        while (!heads_.empty() || !disturbed_.empty()) {
            begin_ahead();
            stop_disturbed();
        }
        if (next_of_own() == now_) return now_;
        contended_.settle(now_);
        const Instant change = network_.next_change();
        if (!lose_room()) return std::min(next_of_own(), change);
    }
}

template <NetworkModel N>
void Engine<N>::handle(const Event& event) {
    ++timeline_.events;
    switch (event.kind) {
        case EventKind::work_over:
            complete(OpId(event.subject), now_);
            return post_ready();
        case EventKind::latency_over:
            return step_over(ExchangeId(event.subject));
    }
}

template <NetworkModel N>
void Engine<N>::handle_contended() {
    ++timeline_.events;
    complete(contended_.pop(), now_);
    post_ready();
}

template <NetworkModel N>
void Engine<N>::handle_ahead() {
    if constexpr (foresees) pass_on(ahead_.pop());
    post_ready();
}

// All finished flows are looked up before any step ends, because one that starts next may be given the id of one.
template <NetworkModel N>
void Engine<N>::handle_finished() {
    timeline_.events += finished_.size();
    for (const FlowId flow : finished_) moved_on_.push_back(flow_exchange_[flow]);
    finished_.clear();
    for (const ExchangeId exchange : moved_on_) step_over(exchange);
    moved_on_.clear();
}

template <NetworkModel N>
void Engine<N>::finish_timeline() {
    for (const RankClass& rank_class : program_.classes) {
        for (std::uint32_t op = rank_class.first_op; op < rank_class.end_op(); ++op) {
            const Instant end = timeline_.spans[OpId{op}].end;
            if (end == Instant::never()) throw Deadlock(explain_deadlock(program_));
            timeline_.end = std::max(timeline_.end, end);
        }
    }
    if constexpr (foresees) asked_ += std::move(ahead_).finish();
}

template <NetworkModel N>
void Engine<N>::check_delivered() const {
    const Bytes moved = delivered(network_, program_.patterns.size());
    WEFT_CHECK(
        std::abs((moved - asked_).value) <= 1e-6 * asked_.value,
        "the network delivered " + std::to_string(moved.value) + " of " + std::to_string(asked_.value) + " bytes");
}

// A stack, not recursion: rows of joins may be as long as the program.
template <NetworkModel N>
void Engine<N>::post_ready() {
    while (!ready_.empty()) {
        const OpId op = ready_.back();
        ready_.pop_back();
        post(op);
    }
}

// What runs ahead begins once everything of the instant has happened.
template <NetworkModel N>
void Engine<N>::post(OpId op) {
    if (ops_[op].is_head) {
        heads_.push_back(op);
    } else {
        post_alone(op);
    }
}

template <NetworkModel N>
void Engine<N>::post_alone(OpId id) {
    const Op& op = program_.ops[id];
    Span& span = timeline_.spans[id];
    span.posted = now_;
    if (op.kind != OpKind::exchange) span.begin = now_;
    switch (op.kind) {
        case OpKind::compute:
            return compute(id, op);
        case OpKind::exchange:
            return arrive(ExchangeId(op.subject));
        case OpKind::join:
            return complete(id, now_);
        case OpKind::routine:
            caller_[class_of_[id]] = id;
            return post(OpId{program_.routines[RoutineId(op.subject)].first_op});
        case OpKind::leave:
            return complete(caller_[class_of_[id]], now_);
    }
}

template <NetworkModel N>
void Engine<N>::compute(OpId op, const Op& what) {
    if (!contended_.concerns(what)) {
        return schedule(after(now_, work_of(op)), EventKind::work_over, static_cast<std::uint32_t>(op));
    }
    const RankClassId rank_class = class_of_[op];
    contended_.start(now_, rank_class, op, work_of(op));
    disturb(rank_class);
}

// `end`: now, or before.
template <NetworkModel N>
void Engine<N>::complete(OpId op, Instant end) {
    Span& span = timeline_.spans[op];
    span.end = end;
    if (ops_[op].is_of_routine) record_part(op, span);
    pass_on(op);
}

// Leaves the ops that waited for nothing else on ready_.
template <NetworkModel N>
void Engine<N>::pass_on(OpId op) {
    if (ops_[op].leads_on) return release(next(op));
    for (const OpId successor : successors_of(op)) release(successor);
}

template <NetworkModel N>
void Engine<N>::release(OpId op) {
    OpState& state = ops_[op];
    if (--state.waits_for != 0) return;
    if (state.is_of_routine) state.waits_for = program_.predecessors[op] & OpState::most_predecessors;
    ready_.push_back(op);
}

// An op of a routine that did not go as planned. Its exchange starts anew the next time: nobody can come to that before
// all are through with this one.
template <NetworkModel N>
void Engine<N>::record_part(OpId op, const Span& span) {
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

template <NetworkModel N>
void Engine<N>::arrive(ExchangeId exchange) {
    ExchangeState& state = exchanges_[exchange];
    if (state.missing > 1) {
        --state.missing;
        return;
    }
    for (const Party& party : parties_of(exchange)) timeline_.spans[party.op].begin = now_;
    transfer<&ContendedWork::begin_transfer>(exchange);
    take_step(exchange);
}

template <NetworkModel N>
void Engine<N>::take_step(ExchangeId exchange) {
    const ExchangeSteps::Step& step = steps_[exchanges_[exchange].step];
    switch (step.kind) {
        case ExchangeSteps::Kind::latency:
            return schedule(after(now_, step.ticks), EventKind::latency_over, static_cast<std::uint32_t>(exchange));
        case ExchangeSteps::Kind::flow:
            return watch_flow(network_.start(now_, step.pattern, step.bytes), exchange, step.bytes);
        case ExchangeSteps::Kind::end:
            return finish(exchange);
    }
}

template <NetworkModel N>
void Engine<N>::watch_flow(FlowId flow, ExchangeId exchange, Bytes bytes) {
    while (index(flow) >= flow_exchange_.size()) flow_exchange_.push_back({});
    flow_exchange_[flow] = exchange;
    asked_ += bytes;
}

template <NetworkModel N>
void Engine<N>::step_over(ExchangeId exchange) {
    ++exchanges_[exchange].step;
    take_step(exchange);
    post_ready();
}

template <NetworkModel N>
void Engine<N>::finish(ExchangeId exchange) {
    transfer<&ContendedWork::end_transfer>(exchange);
    for (const Party& party : parties_of(exchange)) complete(party.op, now_);
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

// The segment that is under way goes on op by op. One of two ops may be over; the other keeps all others waiting.
template <NetworkModel N>
void Engine<N>::take_over(RankClassId rank_class) {
    const auto segment = ahead_.stop(rank_class, now_);
    for (std::uint32_t i = 0; i < segment.ops; ++i) {
        const OpId op{segment.first + i};
        if (segment.begin == now_) {
            ready_.push_back(op);
            continue;
        }
        timeline_.spans[op] = {segment.begin, segment.begin, Instant::never()};
        if (program_.ops[op].kind == OpKind::exchange) {
            take_over_exchange(op, segment.begin);
        } else if (segment.over[i] <= now_) {
            ++timeline_.events;
            complete(op, segment.over[i]);
        } else if (contended_.concerns(program_.ops[op])) {
            const Instant transfer_over = i > 0 ? segment.over[0] : segment.begin;
            contended_.resume(now_, rank_class, op, work_of(op), segment.begin, segment.beside, transfer_over);
        } else {
            schedule(segment.over[i], EventKind::work_over, static_cast<std::uint32_t>(op));
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

template <NetworkModel N>
Timeline run(const Program& program, const Topology& topology, N& network) {
    Timeline timeline = Engine<N>(program, network).run();
    sum_up_links(topology, network, timeline);
    for (PatternId id{}; id != program.patterns.end_id(); id = next(id)) timeline.moved.push_back(network.moved(id));
    return timeline;
}

}  // namespace weft
