#include "sim/engine/contended_work.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {

ContendedWork::ContendedWork(const Program& program) : program_(program), factor_(program.interference) {
    WEFT_CHECK(std::isfinite(factor_) && factor_ >= 1.0, "interference is a factor of at least 1");
    if (!is_needed()) return;
    work_.resize(program.classes.size());
    changed_.reserve(work_.size());
    ends_.reserve(work_.size());
}

void ContendedWork::start(Instant now, RankClassId rank_class, OpId compute, std::int64_t ticks) {
    Work& work = work_[rank_class];
    WEFT_CHECK(!ends_.contains(rank_class), "two ops at a time on one lane");
    work.op = compute;
    work.ticks = ticks;
    work.progress = {.since = now};
    ends_.set(rank_class, after(now, ticks));
    mark(rank_class);
}

void ContendedWork::resume(Instant now, RankClassId rank_class, OpId compute, std::int64_t ticks, Instant begin,
                           Disturbance beside, Instant transfer_over) {
    start(now, rank_class, compute, ticks);
    Work& work = work_[rank_class];
    work.progress.since = begin;
    if (beside == Disturbance::none) work.progress.advance(std::min(transfer_over, now), Disturbance::transfer);
    work.progress.advance(now, beside);
    work.beside = transfer_over > now ? Disturbance::transfer : beside;
    ends_.set(rank_class, after(now, work.progress.left(ticks, work.beside, factor_)));
}

void ContendedWork::begin_transfer(RankClassId rank_class) {
    ++work_[rank_class].transfers;
    mark(rank_class);
}

void ContendedWork::end_transfer(RankClassId rank_class) {
    WEFT_CHECK(work_[rank_class].transfers > 0, "a transfer ends that never began");
    --work_[rank_class].transfers;
    mark(rank_class);
}

void ContendedWork::mark(RankClassId rank_class) {
    if (work_[rank_class].is_changed) return;
    work_[rank_class].is_changed = true;
    changed_.push_back(rank_class);
}

void ContendedWork::settle(Instant now) {
    for (const RankClassId rank_class : changed_) settle(rank_class, now);
    changed_.clear();
}

// The end stays where it is, to the tick, while nothing changes: each form of what is left loses one tick per tick.
void ContendedWork::settle(RankClassId rank_class, Instant now) {
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

OpId ContendedWork::pop() {
    WEFT_CHECK(ends_.next() != Instant::never(), "no computation is under way");
    return work_[ends_.pop()].op;
}

}  // namespace weft
