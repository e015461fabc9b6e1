#include "sim/engine/contended_work.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/engine/ticks.hpp"

namespace weft {

ContendedWork::ContendedWork(const Program& program) : program_(program), factor_(program.interference) {
    WEFT_CHECK(std::isfinite(factor_) && factor_ >= 1.0, "interference is a factor of at least 1");
    if (!is_needed()) return;
    class_of_.reserve(program.ops.size());
    std::uint32_t number = 0;
    for (const RankClass& rank_class : program.classes) {
        for (std::uint32_t i = rank_class.begin_op(); i < rank_class.end_op(); ++i) class_of_.push_back(number);
        ++number;
    }
    work_.resize(number);
    changed_.reserve(number);
    ends_.reserve(number);
}

std::uint32_t ContendedWork::start(Instant now, OpId compute, std::int64_t ticks) {
    const std::uint32_t rank_class = class_of_[compute];
    Work& work = work_[rank_class];
    WEFT_CHECK(!ends_.contains(RankClassId{rank_class}), "two ops at a time on one lane");
    work.op = compute;
    work.ticks = ticks;
    work.progress = {.since = now};
    ends_.set(RankClassId{rank_class}, after(now, ticks));
    mark(rank_class);
    return rank_class;
}

void ContendedWork::resume(Instant now, OpId compute, std::int64_t ticks, const WorkProgress& progress,
                           Disturbance beside) {
    const std::uint32_t rank_class = start(now, compute, ticks);
    work_[rank_class].progress = progress;
    work_[rank_class].beside = beside;
    ends_.set(RankClassId{rank_class}, after(progress.since, progress.left(ticks, beside, factor_)));
}

void ContendedWork::begin_transfer(std::uint32_t rank_class) {
    ++work_[rank_class].transfers;
    mark(rank_class);
}

void ContendedWork::end_transfer(std::uint32_t rank_class) {
    WEFT_CHECK(work_[rank_class].transfers > 0, "a transfer ends that never began");
    --work_[rank_class].transfers;
    mark(rank_class);
}

void ContendedWork::mark(std::uint32_t rank_class) {
    if (work_[rank_class].is_changed) return;
    work_[rank_class].is_changed = true;
    changed_.push_back(rank_class);
}

void ContendedWork::settle(Instant now) {
    for (const std::uint32_t rank_class : changed_) settle(rank_class, now);
    changed_.clear();
}

// The end stays where it is, to the tick, while nothing changes: each form of what is left loses one tick per tick.
void ContendedWork::settle(std::uint32_t rank_class, Instant now) {
    Work& work = work_[rank_class];
    const Disturbance before = std::exchange(work.beside, beside(rank_class));
    work.is_changed = false;
    // The end is that of undisturbed work.
    if (before == Disturbance::none && work.beside == Disturbance::none) return;
    if (!ends_.contains(RankClassId{rank_class})) return;
    work.progress.advance(now, before);
    const std::int64_t left = work.progress.left(work.ticks, work.beside, factor_);
    ends_.set(RankClassId{rank_class}, after(now, std::max(left, std::int64_t{0})));
}

OpId ContendedWork::pop() {
    WEFT_CHECK(ends_.next() != Instant::never(), "no computation is under way");
    return work_[index(ends_.pop())].op;
}

}  // namespace weft
