// The event loop: run() of sim/engine/engine.hpp. Include it only to run a network model of your own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/engine_state.hpp"
#include "sim/engine/link_sums.hpp"
#include "sim/engine/run_ahead.hpp"
#include "sim/network/link_patterns.hpp"

namespace weft {

template <NetworkModel N>
class Engine : EngineState {
  public:
    Engine(const Program& program, N& network, LegTime leg_time = LegTime::real)
        : EngineState(program, leg_time), network_(network), ahead_(program, steps_, network, timeline_) {
        for (std::uint32_t kept = 0; kept < traits_.size(); ++kept) traits_[kept].is_head = ahead_.is_head(kept);
        crowded_out_.reserve(program.patterns.size());
        const std::size_t most = most_in_flight(program);
        heads_.reserve(most);
        disturbed_.reserve(2 * most);
        flow_exchange_.reserve(most);
        finished_.reserve(most);
        moved_on_.reserve(most);
    }

    Timeline run() && {
        for (const OpId op : first_ops()) {
            ready_.push_back(op);
            post_ready();
        }
        for (;;) {
            // Everything of one instant happens before the network is asked again, so that it solves once per instant.
            while (events_.next() == now_) handle(events_.pop());
            while (contended_.next() == now_) work_over(contended_.pop());
            while (ahead_.next() == now_) handle_ahead();
            const Instant next = settle();
            if (next == now_ && next_of_own() == now_) continue;
            now_ = next;
            if (now_ == Instant::never()) break;
            network_.advance(now_, finished_);
            handle_finished();
        }
        note_end();
        if constexpr (foresees) asked_ += std::move(ahead_).finish();
        if (asked_ > Bytes{}) check_delivered();
        timeline_.solves = network_.solves();
        return std::move(timeline_);
    }

  private:
    // When everything of an instant has happened: brings what is under way in line with it. Returns the next instant.
    // Whether more happens at this one has to be known before the network solves: its flows are exact only as long as
    // nobody asks how far they have come.
    Instant settle() {
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

    Instant next_of_own() const { return std::min({events_.next(), contended_.next(), ahead_.next()}); }

    void handle(const Event& event) {
        if (event.kind == EventKind::work_over) return work_over(OpId(event.subject));
        ++timeline_.events;
        step_over(ExchangeId(event.subject));
    }
    void work_over(OpId op) {
        ++timeline_.events;
        complete(op, class_of(op), now_);
        post_ready();
    }
    void handle_ahead() {
        if constexpr (foresees) pass_on(ahead_.pop());
        post_ready();
    }

    // All finished flows are looked up before any step ends, because one that starts next may be given the id of one.
    void handle_finished() {
        timeline_.events += finished_.size();
        for (const FlowId flow : finished_) moved_on_.push_back(flow_exchange_[flow]);
        finished_.clear();
        for (const ExchangeId exchange : moved_on_) step_over(exchange);
        moved_on_.clear();
    }

    void check_delivered() const {
        const Bytes moved = delivered(network_, program_.patterns.size());
        WEFT_CHECK(
            std::abs((moved - asked_).value) <= 1e-6 * asked_.value,
            "the network delivered " + std::to_string(moved.value) + " of " + std::to_string(asked_.value) + " bytes");
    }

    // Ops.

    // A stack, not recursion: rows of joins may be as long as the program.
    void post_ready() {
        while (!ready_.empty()) {
            const OpId op = ready_.back();
            ready_.pop_back();
            post(op, class_of(op));
        }
    }

    // What runs ahead begins once everything of the instant has happened.
    void post(OpId op, RankClassId rank_class) {
        if (traits_[kept(op, rank_class)].is_head) {
            heads_.push_back(op);
        } else {
            post_alone(op, rank_class);
        }
    }

    void post_alone(OpId id, RankClassId rank_class) {
        const Op& op = program_.ops.shared(id, rank_class);
        Span& span = span_of(id, rank_class);
        span.posted = now_;
        if (op.kind != OpKind::exchange) span.begin = now_;
        switch (op.kind) {
            case OpKind::compute:
                return compute(id, rank_class, op);
            case OpKind::exchange:
                return arrive(program_.ops.exchange(op, rank_class));
            case OpKind::join:
                return complete(id, rank_class, now_);
            case OpKind::routine:
                caller_[rank_class] = id;
                return post(OpId{program_.routine_of(id, rank_class).first_op}, rank_class);
            case OpKind::leave:
                return complete(caller_[rank_class], rank_class, now_);
        }
    }

    void compute(OpId op, RankClassId rank_class, const Op& what) {
        const std::int64_t work = work_of(op, rank_class);
        if (!contended_.concerns(what)) {
            return schedule(after(now_, work), EventKind::work_over, static_cast<std::uint32_t>(op));
        }
        contended_.start(now_, rank_class, op, work);
        disturb(rank_class);
    }

    // Exchanges.

    void arrive(ExchangeId exchange) {
        std::uint32_t& missing = exchanges_[exchange].missing;
        if (missing > 1) return static_cast<void>(--missing);
        for (const Party& party : parties_of(exchange)) span_of(party.op, party.rank_class).begin = now_;
        transfer<&ContendedWork::begin_transfer>(exchange);
        take_step(exchange);
    }

    void take_step(ExchangeId exchange) {
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

    void watch_flow(FlowId flow, ExchangeId exchange, Bytes bytes) {
        while (index(flow) >= flow_exchange_.size()) flow_exchange_.push_back({});
        flow_exchange_[flow] = exchange;
        asked_ += bytes;
    }
    void step_over(ExchangeId exchange) {
        ++exchanges_[exchange].step;
        take_step(exchange);
        post_ready();
    }
    void finish(ExchangeId exchange) {
        transfer<&ContendedWork::end_transfer>(exchange);
        for (const Party& party : parties_of(exchange)) complete(party.op, party.rank_class, now_);
    }

    // What runs ahead, and stops for what is beside it.

    void begin_ahead() {
        while (!heads_.empty()) {
            const OpId head = heads_.back();
            heads_.pop_back();
            const RankClassId rank_class = class_of(head);
            if constexpr (foresees) {
                const bool is_of_routine = traits_[kept(head, rank_class)].is_of_routine;
                if (!contended_.is_under_way(rank_class) &&
                    ahead_.begin(now_, rank_class, head, is_of_routine, contended_.beside(rank_class))) {
                    continue;
                }
            }
            post_alone(head, rank_class);
            post_ready();
        }
    }

    template <auto begin_or_end>  // ContendedWork::begin_transfer or end_transfer
    void transfer(ExchangeId exchange) {
        if (!contended_.is_needed()) return;
        for (const Party& party : parties_of(exchange)) {
            (contended_.*begin_or_end)(party.rank_class);
            disturb(party.rank_class);
        }
    }

    // Something begins or ends beside what a class has under way.
    void disturb(RankClassId rank_class) {
        if constexpr (foresees) {
            if (ahead_.is_under_way(rank_class, now_)) disturbed_.push_back(rank_class);
        }
    }

    // Computation beside what runs ahead is slowed by exchanges that no one else knows of.
    void stop_disturbed() {
        while (!disturbed_.empty()) {
            const RankClassId rank_class = disturbed_.back();
            disturbed_.pop_back();
            if constexpr (foresees) {
                if (ahead_.is_under_way(rank_class, now_) &&
                    (contended_.is_under_way(rank_class) ||
                     !ahead_.goes_on(rank_class, contended_.beside(rank_class)))) {
                    take_over(rank_class);
                }
            }
        }
    }

    // Whether there are classes that run ahead, and the network has no room for them any more.
    bool lose_room() {
        if constexpr (foresees) {
            network_.take_crowded_out(crowded_out_);
            for (const PatternId pattern : crowded_out_) disturbed_.push_back(ahead_.lose_room(pattern));
            crowded_out_.clear();
        }
        return !disturbed_.empty();
    }

    // The unit that is under way goes on op by op. One of two ops may be over; the other keeps all others waiting.
    void take_over(RankClassId rank_class) {
        const auto unit = ahead_.stop(rank_class, now_);
        for (std::uint32_t i = 0; i < unit.ops; ++i) {
            const OpId op{unit.first + i};
            if (unit.begin == now_) {
                ready_.push_back(op);
                continue;
            }
            span_of(op, rank_class) = {unit.begin, unit.begin, Instant::never()};
            const Op& what = program_.ops.shared(op, rank_class);
            if (what.kind == OpKind::exchange) {
                take_over_exchange(op, rank_class, program_.ops.exchange(what, rank_class), unit.begin);
            } else if (unit.over[i] <= now_) {
                ++timeline_.events;
                complete(op, rank_class, unit.over[i]);
            } else if (contended_.concerns(what)) {
                const Instant transfer_over = i > 0 ? unit.over[0] : unit.begin;
                contended_.resume(now_, rank_class, op, work_of(op, rank_class), unit.begin, unit.beside,
                                  transfer_over);
            } else {
                schedule(unit.over[i], EventKind::work_over, static_cast<std::uint32_t>(op));
            }
        }
        post_ready();
    }

    void take_over_exchange(OpId op, RankClassId rank_class, ExchangeId exchange, Instant begin) {
        const auto [step, since] = ahead_.record_steps(exchange, begin, now_);
        const ExchangeSteps::Step& what = steps_[step];
        if (what.kind == ExchangeSteps::Kind::end) return complete(op, rank_class, since);
        exchanges_[exchange].step = step;
        transfer<&ContendedWork::begin_transfer>(exchange);
        if (what.kind == ExchangeSteps::Kind::latency) {
            schedule(after(since, what.ticks), EventKind::latency_over, static_cast<std::uint32_t>(exchange));
        } else {
            watch_flow(network_.resume(now_, what.pattern, what.bytes, since), exchange, what.bytes);
        }
    }

    static constexpr bool foresees = ForesightNetwork<N>;
    using Ahead = std::conditional_t<foresees, RunAhead<N>, NothingAhead<N>>;

    N& network_;
    Ahead ahead_;  // what is undisturbed; else ends are events of their own
    Table<FlowId, ExchangeId> flow_exchange_;
    std::vector<FlowId> finished_;
    std::vector<ExchangeId> moved_on_;    // exchanges whose flows finished
    std::vector<OpId> heads_;             // of what may run ahead from now on
    std::vector<RankClassId> disturbed_;  // classes that run ahead beside which something began or ended
    std::vector<PatternId> crowded_out_;
    Bytes asked_;
};

template <NetworkModel N>
Timeline run(const Program& program, const Topology& topology, N& network) {
    Timeline timeline = Engine<N>(program, network).run();
    sum_up_links(topology, network, timeline);
    for (PatternId id{}; id != program.patterns.end_id(); id = next(id)) timeline.moved.push_back(network.moved(id));
    return timeline;
}

}  // namespace weft
