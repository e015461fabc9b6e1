// Computation that runs slower while its rank communicates. The communication takes compute units and memory bandwidth
// from kernels beside it, so as long as a rank class has an exchange in transfer, what it computes takes `factor` times
// as long.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/event/finish_queue.hpp"
#include "sim/program/program.hpp"

namespace weft {

// Allocates nothing after construction.
class ContendedWork {
  public:
    // Where program.interference is 1, nothing is ever contended and nothing is kept.
    explicit ContendedWork(const Program& program) : program_(program), factor_(program.interference) {
        WEFT_CHECK(std::isfinite(factor_) && factor_ >= 1.0, "interference is a factor of at least 1");
        if (!is_needed()) return;
        work_.resize(program.classes.size());
        changed_.reserve(work_.size());
        ends_.reserve(work_.size());
    }

    bool is_needed() const { return factor_ > 1.0; }
    bool concerns(const Op& compute) const { return is_needed() && compute.lane == program_.contended; }

    // An op that it concerns begins; undisturbed it would take `ticks`. One at a time of a class: its lane holds back
    // the next.
    void start(Instant now, RankClassId rank_class, OpId compute, std::int64_t ticks) {
        Work& work = work_[rank_class];
        WEFT_CHECK(!ends_.contains(rank_class), "two ops at a time on one lane");
        work.op = compute;
        work.ticks = ticks;
        work.progress = {.since = now};
        ends_.set(rank_class, after(now, ticks));
        mark(rank_class);
    }

    // The same of an op that began before, with that beside it and, until then, an exchange of its own unit.
    void resume(Instant now, RankClassId rank_class, OpId compute, std::int64_t ticks, Instant begin,
                Disturbance beside, Instant transfer_over) {
        start(now, rank_class, compute, ticks);
        Work& work = work_[rank_class];
        work.progress.since = begin;
        if (beside == Disturbance::none) work.progress.advance(std::min(transfer_over, now), Disturbance::transfer);
        work.progress.advance(now, beside);
        work.beside = transfer_over > now ? Disturbance::transfer : beside;
        ends_.set(rank_class, after(now, work.progress.left(ticks, work.beside, factor_)));
    }

    Disturbance beside(RankClassId rank_class) const {
        return is_needed() && work_[rank_class].transfers > 0 ? Disturbance::transfer : Disturbance::none;
    }
    bool is_under_way(RankClassId rank_class) const { return ends_.contains(rank_class); }

    // An exchange in which the class takes part begins to move, or is over.
    void begin_transfer(RankClassId rank_class) {
        ++work_[rank_class].transfers;
        mark(rank_class);
    }
    void end_transfer(RankClassId rank_class) {
        WEFT_CHECK(work_[rank_class].transfers > 0, "a transfer ends that never began");
        --work_[rank_class].transfers;
        mark(rank_class);
    }

    // Call when everything of an instant has happened, and before next(): what comes and goes within an instant has no
    // effect, in whatever order.
    void settle(Instant now) {
        for (const RankClassId rank_class : changed_) settle(rank_class, now);
        changed_.clear();
    }
    // When the next op is over; Instant::never() if none is under way.
    Instant next() const { return ends_.next(); }
    // Takes it out. There must be one.
    OpId pop() {
        WEFT_CHECK(ends_.next() != Instant::never(), "no computation is under way");
        return work_[ends_.pop()].op;
    }

  private:
    // Of a rank class.
    struct Work {
        OpId op{};
        std::int64_t ticks = 0;
        WorkProgress progress;  // as of the last settling
        std::uint32_t transfers = 0;
        Disturbance beside{};     // since then
        bool is_changed = false;  // listed in changed_
    };

    void mark(RankClassId rank_class) {
        if (work_[rank_class].is_changed) return;
        work_[rank_class].is_changed = true;
        changed_.push_back(rank_class);
    }

    // The end stays where it is, to the tick, while nothing changes: each form of what is left loses one tick per tick.
    void settle(RankClassId rank_class, Instant now) {
        Work& work = work_[rank_class];
        const Disturbance before = std::exchange(work.beside, beside(rank_class));
        work.is_changed = false;
        // The end is that of undisturbed work.
        if (before == Disturbance::none && work.beside == Disturbance::none) return;
        if (!ends_.contains(rank_class)) return;
        work.progress.advance(now, before);
        const std::int64_t left = work.progress.left(work.ticks, work.beside, factor_);
        ends_.set(rank_class, after(now, std::max(left, std::int64_t{0})));
    }

    const Program& program_;
    double factor_;
    Table<RankClassId, Work> work_;
    std::vector<RankClassId> changed_;
    FinishQueue<RankClassId> ends_;
};

}  // namespace weft
