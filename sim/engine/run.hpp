// The event loop: run() of sim/engine/engine.hpp. Include it only to run a network model of your own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/engine/chain_runner.hpp"
#include "sim/engine/contended_work.hpp"
#include "sim/engine/deadlock.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/exchange_ops.hpp"
#include "sim/engine/exchange_steps.hpp"
#include "sim/engine/link_sums.hpp"
#include "sim/engine/ticks.hpp"
#include "sim/event/event_queue.hpp"

namespace weft {

// Whether exchanges take the time of their legs, or none.
enum class LegTime : std::uint8_t { real, none };

// At most one op per lane of each class is under way, and with it one event or flow: its lane holds back the next.
inline std::size_t most_in_flight(const Program& program) {
    return std::min(program.ops.size(), program.classes.size() * program.lanes.size());
}

// All memory is allocated before the clock starts.
template <NetworkModel N>
class Engine {
  public:
    Engine(const Program& program, N& network, LegTime leg_time);
    Timeline run() &&;

  private:
    using Standing = typename ChainRunner<N>::Standing;
    struct Progress {
        std::uint32_t missing = 0;  // parties that have not arrived
        std::uint32_t step = 0;     // of steps_
    };

    void handle(const Event& event);
    void handle_contended();
    void handle_chain();
    void handle_finished();
    void post_ready();
    void post(OpId op);
    void post_alone(OpId op);
    void complete(OpId op);
    void complete(OpId op, Instant end);
    void pass_on(OpId op);
    void record_part(OpId op, const Span& span);
    bool is_of_routine(OpId op) const { return waits_for_[op] >= of_routine; }
    void reserve_routines();
    void finish_timeline();
    Instant settle();
    bool is_due() const;
    void begin_chains();
    void turn_disturbed_chains();
    void stop_crowded_out_chains();
    void stop_chain(std::uint32_t rank_class);
    void take_over(const Standing& standing);
    void take_over_exchange(OpId op, const ChainLink& link);
    void take_over_computation(OpId op, const Standing& standing);
    void disturb(std::uint32_t rank_class);
    void begin_transfer(ExchangeId exchange);
    void end_transfer(ExchangeId exchange);
    void arrive(ExchangeId exchange);
    void take_step(ExchangeId exchange);
    void start_flow(ExchangeId exchange, const ExchangeSteps::Step& step);
    void watch_flow(FlowId flow, ExchangeId exchange, Bytes bytes);
    void step_over(ExchangeId exchange);
    void finish(ExchangeId exchange);
    void complete_all(ExchangeId exchange);

    const Program& program_;
    N& network_;
    LegTime leg_time_;
    EventQueue events_;
    ContendedWork contended_;  // computation, where communication slows it; else its ends are events_
    ExchangeOps parties_;
    ExchangeSteps steps_;
    std::vector<std::int64_t> work_;        // of Program::work, in ticks
    std::optional<ChainRunner<N>> chains_;  // what is undisturbed; else ends are events of their own
    // Predecessors that are not over. Those of routines start anew with every run.
    static constexpr std::uint32_t of_routine = 1U << 31U;
    Table<OpId, std::uint32_t> waits_for_;
    Table<RankClassId, OpId> caller_;  // whose routine is under way
    Table<ExchangeId, Progress> progress_;
    Table<FlowId, ExchangeId> flow_exchange_;
    std::vector<OpId> ready_;  // stack: order within an instant affects no time
    std::vector<FlowId> finished_;
    std::vector<ExchangeId> moved_on_;      // exchanges whose flows finished
    std::vector<OpId> heads_;               // of chains that begin now
    std::vector<std::uint32_t> disturbed_;  // classes with chains beside which something began or ended
    std::vector<PatternId> crowded_out_;
    Instant now_;
    Bytes asked_;
    Timeline timeline_;
};

template <NetworkModel N>
Engine<N>::Engine(const Program& program, N& network, LegTime leg_time)
    : program_(program),
      network_(network),
      leg_time_(leg_time),
      contended_(program),
      parties_(program),
      steps_(program),
      waits_for_(program.predecessors) {
    work_.reserve(program.work.size());
    for (const Seconds work : program.work) work_.push_back(ticks(work));
    progress_.reserve(program.exchanges.size());
    for (const Exchange& exchange : program.exchanges) progress_.push_back({exchange.parties, 0});
    if (leg_time == LegTime::real) chains_.emplace(program, steps_, work_, network);
    crowded_out_.reserve(program.patterns.size());
    const std::size_t most = most_in_flight(program);
    events_.reserve(most);
    heads_.reserve(most);
    disturbed_.reserve(2 * most);
    flow_exchange_.reserve(most);
    ready_.reserve(most);
    finished_.reserve(most);
    moved_on_.reserve(most);
    timeline_.spans = Table<OpId, Span>(program.ops.size(), {Instant::never(), Instant::never(), Instant::never()});
    reserve_routines();
}

template <NetworkModel N>
Timeline Engine<N>::run() && {
    for (OpId op{}; op != program_.ops.end_id(); op = next(op)) {
        if (waits_for_[op] != 0 || program_.predecessors[op] != 0) continue;
        ready_.push_back(op);
        post_ready();
    }
    for (;;) {
        // Everything of one instant happens before the network is asked again, so that it solves once per instant.
        while (events_.next() == now_) handle(events_.pop());
        while (contended_.next() == now_) handle_contended();
        if (chains_) {
            while (chains_->next() == now_) handle_chain();
        }
        const Instant next = settle();
        if (next == now_ && is_due()) continue;
        now_ = next;
        if (now_ == Instant::never()) break;
        network_.advance(now_, finished_);
        handle_finished();
    }
    finish_timeline();
    const double missing = std::abs((network_.delivered() - asked_).value);
    WEFT_CHECK(missing <= 1e-6 * asked_.value, "the network delivered " + std::to_string(network_.delivered().value) +
                                                   " of " + std::to_string(asked_.value) + " bytes");
    timeline_.solves = network_.solves();
    return std::move(timeline_);
}

template <NetworkModel N>
void Engine<N>::handle(const Event& event) {
    ++timeline_.events;
    switch (event.kind) {
        case EventKind::work_over:
            complete(OpId(event.subject));
            return post_ready();
        case EventKind::latency_over:
            return step_over(ExchangeId(event.subject));
    }
}

template <NetworkModel N>
void Engine<N>::handle_contended() {
    ++timeline_.events;
    complete(contended_.pop());
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

// A stack, not recursion: chains of joins may be as long as the program.
template <NetworkModel N>
void Engine<N>::post_ready() {
    while (!ready_.empty()) {
        const OpId op = ready_.back();
        ready_.pop_back();
        post(op);
    }
}

// A chain begins once everything of the instant has happened.
template <NetworkModel N>
void Engine<N>::post(OpId id) {
    if (chains_ && chains_->is_head(id)) {
        heads_.push_back(id);
    } else {
        post_alone(id);
    }
}

template <NetworkModel N>
void Engine<N>::post_alone(OpId id) {
    const Op& op = program_.ops[id];
    Span& span = timeline_.spans[id];
    span.posted = now_;
    switch (op.kind) {
        case OpKind::compute:
            span.begin = now_;
            if (contended_.concerns(op)) return disturb(contended_.start(now_, id, work_[op.subject]));
            events_.schedule(after(now_, work_[op.subject]), EventKind::work_over, static_cast<std::uint32_t>(id));
            return;
        case OpKind::exchange:
            return arrive(ExchangeId(op.subject));
        case OpKind::join:
            span.begin = now_;
            return complete(id);
        case OpKind::routine:
            span.begin = now_;
            caller_[program_.class_of(id)] = id;
            return post(OpId{program_.routines[RoutineId(op.subject)].first_op});
        case OpKind::leave:
            return complete(caller_[program_.class_of(id)]);
    }
}

template <NetworkModel N>
void Engine<N>::complete(OpId op) {
    complete(op, now_);
}

// `end`: now, or before.
template <NetworkModel N>
void Engine<N>::complete(OpId op, Instant end) {
    Span& span = timeline_.spans[op];
    span.end = end;
    if (is_of_routine(op)) record_part(op, span);
    pass_on(op);
}

// Leaves the ops that waited for nothing else on ready_.
template <NetworkModel N>
void Engine<N>::pass_on(OpId op) {
    for (const OpId next : program_.successors_of(op)) {
        std::uint32_t& left = --waits_for_[next];
        if (left != 0 && left != of_routine) continue;
        if (left == of_routine) left += program_.predecessors[next];
        ready_.push_back(next);
    }
}

template <NetworkModel N>
Timeline run(const Program& program, const Topology& topology, N& network) {
    Timeline timeline = Engine<N>(program, network, LegTime::real).run();
    sum_up_links(topology, network, timeline);
    return timeline;
}

}  // namespace weft

#include "sim/engine/run_chains.hpp"
#include "sim/engine/run_exchanges.hpp"
#include "sim/engine/run_routines.hpp"
