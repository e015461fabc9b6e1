// Runs routines ahead of the clock: all of one is one event, as long as nobody interferes. Where another exchange of
// the rank class begins or ends beside it, a flow crowds one of its own out, or a computation that is not its own
// begins, it is stopped: the event loop takes over the unit that is under way, and what is left may run ahead again
// after that.
//
// What comes out is what the event loop finds op by op, to the tick.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/exchanges.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/event/finish_queue.hpp"
#include "sim/network/network_model.hpp"
#include "sim/program/program.hpp"

namespace weft {

// On a network without foresight.
template <NetworkModel N>
class NothingAhead {
  public:
    NothingAhead(const Program&, ExchangeSteps&, N&, Timeline&) {}
    static bool is_head(std::uint32_t) { return false; }
    static Instant next() { return Instant::never(); }
};

// On a ForesightNetwork. Allocates nothing after construction.
template <NetworkModel N>
class RunAhead {
  public:
    // All arguments must outlive this. Times the flows among `steps`.
    RunAhead(const Program& program, ExchangeSteps& steps, N& network, Timeline& timeline)
        : program_(program),
          steps_(steps),
          network_(network),
          timeline_(timeline),
          passes_(program.ops.size() + 1, 0),
          holder_(program.patterns.size(), nobody),
          runs_(program.classes.size()) {
        steps.time_flows(network);
        times_ = RoutineTimes(program, lone_ticks(program, steps));
        ends_.reserve(runs_.size());
    }

    // Whether what begins with the op that is kept there may be worth an event.
    bool is_head(std::uint32_t kept) const { return times_.is_head(kept); }

    // Begins with `head`, as far as there is room for the flows. Returns false if that is not worth while, or another
    // routine of the class is under way. `is_of_routine`: of the program.
    bool begin(Instant now, RankClassId rank_class, OpId head, bool is_of_routine, Disturbance beside) {
        if (ends_.contains(rank_class)) return false;
        Run& run = runs_[rank_class];
        run = {
            .first = static_cast<std::uint32_t>(head), .begin = now, .beside = beside, .is_of_routine = is_of_routine};
        run.end = reserve(run, rank_class);
        if (run.end >= run.first + RoutineTimes::fewest_ops) {
            const RoutineTimes::OfClass times = times_.of(rank_class);
            const std::int64_t last = times.over(run.end - 1, beside);
            const Instant over = after_or_end(now, last - times.begin(run.first, beside));
            if (std::max(over.femtoseconds, last) < end_of_clock) {
                ends_.set(rank_class, over);
                return true;
            }
        }
        release(rank_class);
        return false;
    }

    bool is_under_way(RankClassId rank_class, Instant now) const {
        return ends_.contains(rank_class) && now < ends_.of(rank_class);
    }
    // With something else beside it than it began with, or without room for a flow, what is under way has to stop.
    bool goes_on(RankClassId rank_class, Disturbance beside) const {
        return runs_[rank_class].beside == beside && !runs_[rank_class].is_crowded_out;
    }

    // When the next one is over; Instant::never() if none is under way.
    Instant next() const { return ends_.next(); }

    // Takes it out and records it. Returns its last op, whose end is news to others.
    OpId pop() {
        WEFT_CHECK(next() != Instant::never(), "no routine is under way");
        const Instant over = next();
        const RankClassId rank_class = ends_.pop();
        release(rank_class);
        record(rank_class, runs_[rank_class].end, over);
        return OpId{runs_[rank_class].end - 1};
    }

    // The room of a pattern is gone. Returns the class that had it.
    RankClassId lose_room(PatternId pattern) {
        runs_[holder_[pattern]].is_crowded_out = true;
        return std::exchange(holder_[pattern], nobody);
    }
    // The unit that is under way where a routine stops.
    struct Stopped {
        std::uint32_t first = 0, ops = 1;
        Instant begin;
        std::array<Instant, 2> over;  // of its ops
        Disturbance beside{};
    };

    // Takes out what is not over. Records the units that are.
    Stopped stop(RankClassId rank_class, Instant now) {
        WEFT_CHECK(is_under_way(rank_class, now), "no routine to stop");
        ends_.remove(rank_class);
        release(rank_class);
        const Run& run = runs_[rank_class];
        const RoutineTimes::OfClass times = times_.of(rank_class);
        const std::int64_t start = run.begin.femtoseconds - times.begin(run.first, run.beside);
        const std::uint32_t first = times.last_begun(run.first, run.end, now.femtoseconds - start, run.beside);
        Stopped unit{.first = first,
                     .ops = times.ops_of_unit(first),
                     .begin = {start + times.begin(first, run.beside)},
                     .over = {},
                     .beside = run.beside};
        for (std::uint32_t i = 0; i < unit.ops; ++i) unit.over[i] = {start + times.over(first + i, run.beside)};
        record(rank_class, first, unit.begin);
        return unit;
    }

    // Records the steps of an exchange that are over by `now`. Returns the one that is not, and when it began.
    std::pair<std::uint32_t, Instant> record_steps(ExchangeId exchange, Instant begin, Instant now) {
        return visit_steps(exchange, begin, now, [this](const ExchangeSteps::Step& step, Instant from, Instant to) {
            count(step, 1);
            if (step.kind == ExchangeSteps::Kind::flow) network_.record(step.pattern, step.bytes, from, to);
        });
    }

    // At the end of the run: counts what went as planned, and tells the timeline how long it took. Returns the bytes
    // that the network was asked for.
    Bytes finish() && {
        std::int64_t passes = 0;
        for (OpId op{}; op != program_.ops.end_id(); op = weft::next(op)) {
            passes += passes_[index(op)];
            if (passes > 0) count(op, passes);
        }
        if (!program_.routines.empty()) timeline_.routine_times = std::move(times_);
        return asked_;
    }

  private:
    static constexpr std::uint32_t most_patterns = 8;
    static constexpr RankClassId nobody{std::numeric_limits<std::uint32_t>::max()};
    // What is under way. Of each rank class at most one is.
    struct Run {
        std::uint32_t first = 0, end = 0;  // ops
        Instant begin;
        Disturbance beside{};
        bool is_crowded_out = false;
        bool is_of_routine = false;
        std::uint8_t patterns = 0;
        std::array<PatternId, most_patterns> pattern{};  // that had room for it
    };

    // How many ticks each communication takes that shares nothing.
    static Table<CommunicationId, std::int64_t> lone_ticks(const Program& program, const ExchangeSteps& steps) {
        Table<CommunicationId, std::int64_t> all(program.communications.size());
        for (CommunicationId id{}; id != all.end_id(); id = weft::next(id)) {
            Instant over;
            for (const ExchangeSteps::Step& step : steps.of(id)) over = after_or_end(over, step.ticks);
            all[id] = over.femtoseconds;
        }
        return all;
    }

    // Returns the op past the last unit of one op before which there is room for all flows.
    std::uint32_t reserve(Run& run, RankClassId rank_class) {
        const RoutineTimes::OfClass times = times_.of(rank_class);
        std::uint32_t end = run.first;
        for (std::uint32_t op = run.first, past = times.end(op); op < past;) {
            if (!has_room(run, rank_class, OpId{op})) break;
            const std::uint32_t ops = times.ops_of_unit(op);
            op += ops;
            if (ops == 1) end = op;
        }
        return end;
    }

    bool has_room(Run& run, RankClassId rank_class, OpId op) {
        const Op& what = program_.ops.shared(op, rank_class);
        if (what.kind != OpKind::exchange) return true;
        const Exchange& exchange = program_.exchanges[program_.ops.exchange(what, rank_class)];
        for (const ExchangeSteps::Step& step : steps_.of(exchange.communication)) {
            if (step.kind != ExchangeSteps::Kind::flow || holder_[step.pattern] == rank_class) continue;
            if (run.patterns == most_patterns || !network_.reserve(step.pattern)) return false;
            run.pattern[run.patterns++] = step.pattern;
            holder_[step.pattern] = rank_class;
        }
        return true;
    }

    void release(RankClassId rank_class) {
        for (std::uint8_t i = 0; i < runs_[rank_class].patterns; ++i) {
            const PatternId pattern = runs_[rank_class].pattern[i];
            if (holder_[pattern] != rank_class) continue;
            network_.release(pattern);
            holder_[pattern] = nobody;
        }
    }

    // The units before `end`, which are over at `over`.
    void record(RankClassId rank_class, std::uint32_t end, Instant over) {
        const Run& run = runs_[rank_class];
        const RoutineTimes::OfClass times = times_.of(rank_class);
        if (end == run.first) return;
        ++passes_[run.first];
        --passes_[end];
        if (run.is_of_routine) {
            timeline_.parts[rank_class].add({.first = run.first,
                                             .ops = end - run.first,
                                             .beside = run.beside,
                                             .posted = run.begin,
                                             .begin = run.begin,
                                             .over = over});
        } else {
            times.visit(run.first, end, run.begin, run.beside, [this](OpId op, Instant begin, Instant end_of_op) {
                timeline_.spans[op] = {begin, begin, end_of_op};
            });
        }
        if (!network_.is_recorded()) return;
        times.visit(run.first, end, run.begin, run.beside, [&](OpId op, Instant begin, Instant end_of_op) {
            const Op& what = program_.ops.shared(op, rank_class);
            if (what.kind != OpKind::exchange) return;
            const ExchangeId exchange = program_.ops.exchange(what, rank_class);
            visit_steps(exchange, begin, end_of_op, [this](const ExchangeSteps::Step& step, Instant from, Instant to) {
                if (step.kind == ExchangeSteps::Kind::flow) network_.record(step.pattern, step.bytes, from, to);
            });
        });
    }

    void count(OpId op, std::int64_t passes) {
        const Op what = program_.ops[op];
        if (what.kind == OpKind::compute) timeline_.events += static_cast<std::uint64_t>(passes);
        if (what.kind != OpKind::exchange) return;
        for (const ExchangeSteps::Step& step : steps_.of(program_.communication_of(what))) count(step, passes);
    }
    void count(const ExchangeSteps::Step& step, std::int64_t passes) {
        timeline_.events += static_cast<std::uint64_t>(passes);
        if (step.kind != ExchangeSteps::Kind::flow) return;
        network_.deliver(step.pattern, step.bytes, static_cast<double>(passes));
        asked_ += step.bytes * static_cast<double>(passes);
    }

    // Calls visit(step, begin, end) for the steps that are over by `until`. Returns the one that is not, and when it
    // began.
    template <class Visit>
    std::pair<std::uint32_t, Instant> visit_steps(ExchangeId exchange, Instant begin, Instant until,
                                                  Visit visit) const {
        std::uint32_t at = steps_.first(program_.exchanges[exchange].communication);
        for (; steps_[at].kind != ExchangeSteps::Kind::end; ++at) {
            const Instant end{begin.femtoseconds + steps_[at].ticks};
            if (end > until) break;
            visit(steps_[at], begin, end);
            begin = end;
        }
        return {at, begin};
    }

    const Program& program_;
    const ExchangeSteps& steps_;
    N& network_;
    Timeline& timeline_;
    RoutineTimes times_;
    std::vector<std::int32_t> passes_;      // by op: how much more often it went as planned than the one before
    Table<PatternId, RankClassId> holder_;  // of the pattern's room
    Table<RankClassId, Run> runs_;
    FinishQueue<RankClassId> ends_;  // of those under way
    Bytes asked_;
};

}  // namespace weft
