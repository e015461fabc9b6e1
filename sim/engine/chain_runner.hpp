// Runs chains ahead: all links of a chain are one event, as long as nobody interferes. Another exchange of the rank
// class that begins or ends beside the chain slows or frees its computations: the chain then turns. Where a flow crowds
// one of its own out, or a computation that is not its own begins, it is stopped, and the event loop takes over the
// link that is under way.
//
// What comes out is what the event loop finds op by op, to the tick.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/chain_links.hpp"
#include "sim/engine/chains.hpp"
#include "sim/engine/exchange_steps.hpp"
#include "sim/engine/routine_patterns.hpp"
#include "sim/engine/routine_times.hpp"
#include "sim/engine/ticks.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/engine/work_progress.hpp"
#include "sim/event/finish_queue.hpp"
#include "sim/network/network_model.hpp"
#include "sim/program/program.hpp"

namespace weft {

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
    // Begins the chain of `head`, as far as there is room for its flows. Returns false if that is not worth while, or
    // another chain of the class is under way. `caller`: of the routine that `head` belongs to.
    bool begin(Instant now, std::uint32_t rank_class, OpId head, std::optional<OpId> caller, Disturbance beside);

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
    // Something else is beside the chain of a class from now on. Records the links that are over. Returns false if the
    // chain has to be stopped.
    bool turn(std::uint32_t rank_class, Instant now, Disturbance beside, Timeline& timeline, Bytes& asked);
    // Where a chain is stopped: the link that is under way, and of its computation how far it has come and what it has
    // had beside it.
    struct Standing {
        ChainLink link;
        WorkProgress progress;
        Disturbance beside{};
    };
    // Takes a chain out that is not over. Records the links that are.
    Standing stop(std::uint32_t rank_class, Instant now, Timeline& timeline, Bytes& asked);
    // Records the steps of an exchange that are over by `now`. Returns the one that is not, and when it began.
    std::pair<std::uint32_t, Instant> record_steps(ExchangeId exchange, Instant begin, Instant now, Timeline& timeline,
                                                   Bytes& asked);
    // At the end of the run: counts what went as planned in routines, and tells the timeline how long it took.
    void finish(Timeline& timeline, Bytes& asked) &&;

  private:
    static constexpr std::uint32_t fewest_ops = 3, most_patterns = 8;
    // A chain under way. Of each rank class at most one is.
    struct Run {
        std::uint32_t first = 0, end = 0;  // ops
        Instant begin;                     // of the first link
        WorkProgress progress;             // of its computation
        Disturbance beside{};
        std::uint8_t patterns = 0;
        std::array<PatternId, most_patterns> pattern{};  // that have room for it
        std::optional<OpId> caller;                      // if it is part of a routine
        RoutineId routine{};
    };

    bool look_ahead(Run& run, std::uint32_t rank_class, std::uint32_t fewest);
    ChainLink link_at(const Run& run, std::uint32_t op, Instant begin) const {
        return links_.at(op, begin, progress_of(run, op, begin), run.beside);
    }
    // Of the computation of a link, before it goes on.
    static WorkProgress progress_of(const Run& run, std::uint32_t op, Instant begin) {
        return op == run.first ? run.progress : WorkProgress{.since = begin};
    }
    WorkProgress progress_at(const Run& run, const ChainLink& link, Instant now) const {
        const WorkProgress before = progress_of(run, static_cast<std::uint32_t>(link.first), link.begin);
        return links_.progress_at(link, now, before, run.beside);
    }
    bool reserve(Run& run, std::uint32_t rank_class, const ChainLink& link);
    bool reserve(Run& run, std::uint32_t rank_class, PatternId pattern);
    void release(Run& run);
    ChainLink record(const Run& run, Instant until, Timeline& timeline, Bytes& asked);
    void record(const ChainLink& link, Timeline& timeline, Bytes& asked);

    // The same in routines (chain_routines.hpp).
    bool look_ahead_in_routine(Run& run, std::uint32_t rank_class, std::uint32_t fewest);
    std::uint32_t reserve_in_routine(Run& run, std::uint32_t rank_class);
    ChainLink record_in_routine(const Run& run, Instant until, Timeline& timeline);
    Instant begin_in_routine(const Run& run, const ChainLink& first, std::uint32_t op) const;
    std::uint32_t number_in_routine(const Run& run, std::uint32_t op) const {
        return op - program_.routines[run.routine].first_op;
    }
    void record_flows(const Timeline& timeline);
    void count(OpId op, std::int64_t passes, Timeline& timeline, Bytes& asked);
    static std::vector<std::int64_t> times_of(const ExchangeSteps& steps, const N& network);

    const Program& program_;
    const ExchangeSteps& steps_;
    N& network_;
    Chains chains_;
    ChainLinks links_;
    RoutinePatterns routine_patterns_;
    RoutineTimes routine_times_;
    std::vector<std::int64_t> passes_;  // by slot of these: how much more often an op was over than the one before
    Table<PatternId, std::uint32_t> holder_;  // the class whose chain has the pattern's room
    std::vector<Run> runs_;                   // by class
    FinishQueue<RankClassId> ends_;           // of chains under way
};

template <NetworkModel N>
ChainRunner<N>::ChainRunner(const Program& program, const ExchangeSteps& steps, const std::vector<std::int64_t>& work,
                            N& network)
    : program_(program),
      steps_(steps),
      network_(network),
      chains_(program),
      links_(program, chains_, steps, work, times_of(steps, network)),
      routine_patterns_(program, steps),
      routine_times_(program, chains_, links_),
      passes_(routine_times_.slots(), 0),
      holder_(program.patterns.size()),
      runs_(program.classes.size()) {
    ends_.reserve(runs_.size());
}

// Of flows, as long as they have room.
template <NetworkModel N>
std::vector<std::int64_t> ChainRunner<N>::times_of(const ExchangeSteps& steps, const N& network) {
    std::vector<std::int64_t> times(steps.size(), 0);
    for (std::uint32_t at = 0; at < times.size(); ++at) {
        const ExchangeSteps::Step& step = steps[at];
        if (step.kind == ExchangeSteps::Kind::latency) times[at] = step.ticks;
        if (step.kind == ExchangeSteps::Kind::flow) times[at] = ticks(step.bytes / network.lone_rate(step.pattern));
    }
    return times;
}

template <NetworkModel N>
bool ChainRunner<N>::begin(Instant now, std::uint32_t rank_class, OpId head, std::optional<OpId> caller,
                           Disturbance beside) {
    if (ends_.contains(RankClassId{rank_class})) return false;
    Run& run = runs_[rank_class];
    run = {.first = static_cast<std::uint32_t>(head),
           .begin = now,
           .progress = {.since = now},
           .beside = beside,
           .caller = caller,
           .routine = caller ? RoutineId{program_.ops[*caller].subject} : RoutineId{}};
    if (look_ahead(run, rank_class, fewest_ops)) return true;
    release(run);
    return false;
}

// Finds where the chain ends, as far as there is room for its flows, and when. Returns false if fewer ops come
// together.
template <NetworkModel N>
bool ChainRunner<N>::look_ahead(Run& run, std::uint32_t rank_class, std::uint32_t fewest) {
    if (run.caller) return look_ahead_in_routine(run, rank_class, fewest);
    Instant at = run.begin, over = run.begin;
    std::uint32_t end = run.first;
    for (std::uint32_t op = run.first; op < chains_.end(run.first);) {
        const ChainLink link = link_at(run, op, at);
        if (link.over().femtoseconds >= end_of_clock || !reserve(run, rank_class, link)) break;
        at = link.over();
        op += link.ops;
        if (link.ops == 1) {
            end = op;
            over = at;
        }
    }
    if (end < run.first + fewest) return false;
    run.end = end;
    ends_.set(RankClassId{rank_class}, over);
    return true;
}

template <NetworkModel N>
bool ChainRunner<N>::turn(std::uint32_t rank_class, Instant now, Disturbance beside, Timeline& timeline, Bytes& asked) {
    WEFT_CHECK(is_under_way(rank_class, now), "no chain to turn");
    Run& run = runs_[rank_class];
    const ChainLink link = record(run, now, timeline, asked);
    run.progress = progress_at(run, link, now);
    run.first = static_cast<std::uint32_t>(link.first);
    run.begin = link.begin;
    run.beside = beside;
    return look_ahead(run, rank_class, 1);
}

template <NetworkModel N>
bool ChainRunner<N>::reserve(Run& run, std::uint32_t rank_class, const ChainLink& link) {
    if (program_.ops[link.first].kind != OpKind::exchange) return true;
    for (const ExchangeSteps::Step& step : steps_.of(links_.communication_of(link.first))) {
        if (step.kind == ExchangeSteps::Kind::flow && !reserve(run, rank_class, step.pattern)) return false;
    }
    return true;
}

template <NetworkModel N>
bool ChainRunner<N>::reserve(Run& run, std::uint32_t rank_class, PatternId pattern) {
    const auto own = std::span(run.pattern).first(run.patterns);
    if (std::ranges::find(own, pattern) != own.end()) return true;
    if (run.patterns == most_patterns || !network_.reserve(pattern)) return false;
    run.pattern[run.patterns++] = pattern;
    holder_[pattern] = rank_class;
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
typename ChainRunner<N>::Standing ChainRunner<N>::stop(std::uint32_t rank_class, Instant now, Timeline& timeline,
                                                       Bytes& asked) {
    WEFT_CHECK(is_under_way(rank_class, now), "no chain to stop");
    Run& run = runs_[rank_class];
    ends_.remove(RankClassId{rank_class});
    release(run);
    const ChainLink link = record(run, now, timeline, asked);
    const Disturbance beside = link.exchange_over > now ? Disturbance::transfer : run.beside;
    return {.link = link, .progress = progress_at(run, link, now), .beside = beside};
}

}  // namespace weft

#include "sim/engine/chain_records.hpp"
#include "sim/engine/chain_routines.hpp"
