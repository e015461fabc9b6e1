// Runs chains ahead: all links of a chain are one event, as long as nobody interferes. Interference is another exchange
// of the rank class that begins or ends beside the chain, which slows or frees its computations, or a flow that crowds
// one of its own out. The chain is then stopped, and the event loop takes over the link that is under way.
//
// What comes out is what the event loop finds op by op, to the tick.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/chains.hpp"
#include "sim/engine/exchange_steps.hpp"
#include "sim/engine/ticks.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/event/finish_queue.hpp"
#include "sim/network/network_model.hpp"
#include "sim/program/program.hpp"

namespace weft {

// What the computations of a rank class have beside them: an exchange in transfer, which slows them, or nothing.
enum class Disturbance : std::uint8_t { none, transfer };

// A link of a chain, when it begins, and how long its ops take.
struct ChainLink {
    OpId first{};
    std::uint32_t ops = 1;
    Instant begin;
    std::int64_t computation = 0, exchange = 0;  // in ticks from `begin`; 0 without one

    Instant end_of_computation() const { return {begin.femtoseconds + computation}; }
    Instant end_of_exchange() const { return {begin.femtoseconds + exchange}; }
    Instant end() const { return std::max(end_of_computation(), end_of_exchange()); }
};

// Allocates nothing after construction.
template <NetworkModel N>
class ChainRunner {
  public:
    // All arguments must outlive this. `work`: Program::work in ticks.
    ChainRunner(const Program& program, const ExchangeSteps& steps, const std::vector<std::int64_t>& work, N& network);

    // Whether a chain that begins with this op may be worth its event.
    bool is_head(OpId op) const {
        const auto number = static_cast<std::uint32_t>(op);
        return chains_.end(number) >= number + fewest_ops && chains_.ops(number) == 1;
    }
    std::uint32_t class_of(OpId op) const {
        const auto past = std::ranges::upper_bound(class_begin_, static_cast<std::uint32_t>(op));
        return static_cast<std::uint32_t>(past - class_begin_.begin()) - 1;
    }
    // Begins the chain of `head`, as far as there is room for its flows. Returns false if that is not worth while, or
    // another chain of the class is under way.
    bool begin(Instant now, OpId head, Disturbance beside);

    bool is_under_way(std::uint32_t rank_class, Instant now) const {
        return ends_.contains(RankClassId{rank_class}) && now < ends_.of(RankClassId{rank_class});
    }
    Disturbance beside(std::uint32_t rank_class) const { return runs_[rank_class].beside; }

    // When the next chain is over; Instant::never() if none is under way.
    Instant next() const { return ends_.next(); }
    // Takes it out and records it. Returns its last op, whose end is news to others.
    OpId pop(Timeline& timeline, Bytes& asked);

    // The room of a pattern is gone. Returns the class whose chain had it.
    std::uint32_t lose_room(PatternId pattern);
    // Takes a chain out that is not over. Records the links that are; returns the one that is under way.
    ChainLink stop(std::uint32_t rank_class, Instant now, Timeline& timeline, Bytes& asked);
    std::int64_t ticks_of_step(std::uint32_t step) const { return step_ticks_[step]; }
    // Records the steps of an exchange that are over by `now`. Returns the one that is not, and when it began.
    std::pair<std::uint32_t, Instant> record_steps(ExchangeId exchange, Instant begin, Instant now, Timeline& timeline,
                                                   Bytes& asked);

  private:
    static constexpr std::uint32_t fewest_ops = 3, most_patterns = 8;
    // A chain under way. Of each rank class at most one is.
    struct Run {
        std::uint32_t first = 0, end = 0;  // ops
        Instant begin;
        Disturbance beside{};
        std::uint8_t patterns = 0;
        std::array<PatternId, most_patterns> pattern{};  // that have room for it
    };

    ChainLink link_at(std::uint32_t op, Instant begin, Disturbance beside) const;
    bool reserve(Run& run, std::uint32_t rank_class, const ChainLink& link);
    void release(Run& run);
    ChainLink record(const Run& run, Instant until, Timeline& timeline, Bytes& asked);
    void record(const ChainLink& link, Timeline& timeline, Bytes& asked);
    CommunicationId communication_of(OpId op) const {
        return program_.exchanges[ExchangeId(program_.ops[op].subject)].communication;
    }

    const Program& program_;
    const ExchangeSteps& steps_;
    const std::vector<std::int64_t>& work_;
    N& network_;
    Chains chains_;
    std::vector<std::int64_t> slow_work_;                  // the same beside an exchange in transfer
    std::vector<std::int64_t> step_ticks_;                 // of ExchangeSteps, of flows that have room
    Table<CommunicationId, std::int64_t> exchange_ticks_;  // of all steps
    Table<PatternId, std::uint32_t> holder_;               // the class whose chain has the pattern's room
    std::vector<std::uint32_t> class_begin_;               // first op of each class
    std::vector<Run> runs_;                                // by class
    FinishQueue<RankClassId> ends_;                        // of chains under way
};

template <NetworkModel N>
ChainRunner<N>::ChainRunner(const Program& program, const ExchangeSteps& steps, const std::vector<std::int64_t>& work,
                            N& network)
    : program_(program),
      steps_(steps),
      work_(work),
      network_(network),
      chains_(program),
      holder_(program.patterns.size()),
      runs_(program.classes.size()) {
    class_begin_.reserve(program.classes.size());
    for (const RankClass& rank_class : program.classes) class_begin_.push_back(rank_class.first_op);
    slow_work_.reserve(work.size());
    step_ticks_.resize(steps.size());
    exchange_ticks_.reserve(program.communications.size());
    for (const std::int64_t ticks : work) slow_work_.push_back(scaled(ticks, program.interference));
    for (CommunicationId id{}; id != program.communications.end_id(); id = weft::next(id)) {
        std::int64_t sum = 0;
        for (std::uint32_t at = steps.first(id); steps[at].kind != ExchangeSteps::Kind::end; ++at) {
            const ExchangeSteps::Step& step = steps[at];
            step_ticks_[at] = step.kind == ExchangeSteps::Kind::latency
                                  ? step.ticks
                                  : ticks(step.bytes / network.lone_rate(step.pattern));
            sum = sum < end_of_clock - step_ticks_[at] ? sum + step_ticks_[at] : end_of_clock;
        }
        exchange_ticks_.push_back(sum);
    }
    ends_.reserve(runs_.size());
}

template <NetworkModel N>
bool ChainRunner<N>::begin(Instant now, OpId head, Disturbance beside) {
    const std::uint32_t rank_class = class_of(head);
    Run& run = runs_[rank_class];
    if (ends_.contains(RankClassId{rank_class})) return false;
    const auto first = static_cast<std::uint32_t>(head);
    run = {.first = first, .end = first, .begin = now, .beside = beside};
    Instant at = now, over = now;
    for (std::uint32_t op = first; op < chains_.end(first);) {
        const ChainLink link = link_at(op, at, beside);
        if (std::max(link.computation, link.exchange) >= end_of_clock - at.femtoseconds) break;
        if (!reserve(run, rank_class, link)) break;
        at = link.end();
        op += link.ops;
        if (link.ops == 1) {
            run.end = op;
            over = at;
        }
    }
    if (run.end < first + fewest_ops) {
        release(run);
        return false;
    }
    ends_.set(RankClassId{rank_class}, over);
    return true;
}

// Of two ops, the exchange slows the computation while it lasts: see ContendedWork.
template <NetworkModel N>
ChainLink ChainRunner<N>::link_at(std::uint32_t op, Instant begin, Disturbance beside) const {
    ChainLink link{.first = OpId{op}, .ops = chains_.ops(op), .begin = begin};
    if (program_.ops[link.first].kind == OpKind::exchange) {
        link.exchange = exchange_ticks_[communication_of(link.first)];
        if (link.ops == 1) return link;
    } else if (program_.ops[link.first].kind == OpKind::join) {
        return link;
    }
    const std::uint32_t work = program_.ops[OpId{op + link.ops - 1}].subject;
    link.computation = beside == Disturbance::transfer || link.ops == 2 ? slow_work_[work] : work_[work];
    if (beside == Disturbance::none && link.computation > link.exchange && link.ops == 2) {
        const auto done = std::llround(static_cast<double>(link.exchange) / program_.interference);
        link.computation = work_[work] - done + link.exchange;
    }
    return link;
}

template <NetworkModel N>
bool ChainRunner<N>::reserve(Run& run, std::uint32_t rank_class, const ChainLink& link) {
    if (program_.ops[link.first].kind != OpKind::exchange) return true;
    for (std::uint32_t at = steps_.first(communication_of(link.first)); steps_[at].kind != ExchangeSteps::Kind::end;
         ++at) {
        if (steps_[at].kind != ExchangeSteps::Kind::flow) continue;
        const PatternId pattern = steps_[at].pattern;
        const auto own = std::span(run.pattern).first(run.patterns);
        if (std::ranges::find(own, pattern) != own.end()) continue;
        if (run.patterns == most_patterns || !network_.reserve(pattern)) return false;
        run.pattern[run.patterns++] = pattern;
        holder_[pattern] = rank_class;
    }
    return true;
}

template <NetworkModel N>
void ChainRunner<N>::release(Run& run) {
    for (std::uint8_t i = 0; i < run.patterns; ++i) network_.release(run.pattern[i]);
    run.patterns = 0;
}

template <NetworkModel N>
std::uint32_t ChainRunner<N>::lose_room(PatternId pattern) {
    Run& run = runs_[holder_[pattern]];
    const auto own = std::span(run.pattern).first(run.patterns);
    const auto found = std::ranges::find(own, pattern);
    WEFT_CHECK(found != own.end(), "a pattern without a chain has lost its room");
    *found = own.back();
    --run.patterns;
    return holder_[pattern];
}

template <NetworkModel N>
OpId ChainRunner<N>::pop(Timeline& timeline, Bytes& asked) {
    WEFT_CHECK(next() != Instant::never(), "no chain is under way");
    const Instant over = next();
    Run& run = runs_[index(ends_.pop())];
    release(run);
    record(run, over, timeline, asked);
    return OpId{run.end - 1};
}

template <NetworkModel N>
ChainLink ChainRunner<N>::stop(std::uint32_t rank_class, Instant now, Timeline& timeline, Bytes& asked) {
    Run& run = runs_[rank_class];
    WEFT_CHECK(is_under_way(rank_class, now), "no chain to stop");
    ends_.remove(RankClassId{rank_class});
    release(run);
    return record(run, now, timeline, asked);
}

// The links that are over by `until`. Returns the one after.
template <NetworkModel N>
ChainLink ChainRunner<N>::record(const Run& run, Instant until, Timeline& timeline, Bytes& asked) {
    ChainLink link{.first = OpId{run.first}, .ops = 0, .begin = run.begin};
    for (std::uint32_t op = run.first; op < run.end; op += link.ops) {
        link = link_at(op, link.end(), run.beside);
        if (link.end() > until) return link;
        record(link, timeline, asked);
    }
    return link;
}

template <NetworkModel N>
void ChainRunner<N>::record(const ChainLink& link, Timeline& timeline, Bytes& asked) {
    for (std::uint32_t i = 0; i < link.ops; ++i) {
        const auto op = OpId(static_cast<std::uint32_t>(link.first) + i);
        const bool is_exchange = program_.ops[op].kind == OpKind::exchange;
        const Instant end{link.begin.femtoseconds + (is_exchange ? link.exchange : link.computation)};
        timeline.spans[op] = {link.begin, link.begin, end};
        if (is_exchange) {
            record_steps(ExchangeId(program_.ops[op].subject), link.begin, end, timeline, asked);
        } else if (program_.ops[op].kind == OpKind::compute) {
            ++timeline.events;
        }
    }
}

template <NetworkModel N>
std::pair<std::uint32_t, Instant> ChainRunner<N>::record_steps(ExchangeId exchange, Instant begin, Instant now,
                                                               Timeline& timeline, Bytes& asked) {
    std::uint32_t at = steps_.first(program_.exchanges[exchange].communication);
    for (; steps_[at].kind != ExchangeSteps::Kind::end; ++at) {
        const Instant end{begin.femtoseconds + step_ticks_[at]};
        if (end > now) break;
        if (steps_[at].kind == ExchangeSteps::Kind::flow) {
            network_.deliver(steps_[at].pattern, steps_[at].bytes, begin, end);
            asked += steps_[at].bytes;
        }
        ++timeline.events;
        begin = end;
    }
    return {at, begin};
}

}  // namespace weft
