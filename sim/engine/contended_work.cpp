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
        for (std::uint32_t i = 0; i < rank_class.ops; ++i) class_of_.push_back(number);
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
    work.clean = work.contended = 0;
    work.since = now;
    ends_.set(RankClassId{rank_class}, after(now, ticks));
    mark(rank_class);
    return rank_class;
}

void ContendedWork::resume(Instant now, OpId compute, std::int64_t ticks, const Begun& begun) {
    const std::uint32_t rank_class = start(now, compute, ticks);
    Work& work = work_[rank_class];
    work.since = begun.since;
    work.contended = begun.contended;
    work.is_slow = begun.is_slow;
    ends_.set(RankClassId{rank_class}, after(begun.since, left(work)));
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
    const bool was_slow = work.is_slow;
    work.is_slow = work.transfers > 0;
    work.is_changed = false;
    const bool is_undisturbed = !was_slow && !work.is_slow;  // the end is that of undisturbed work
    if (is_undisturbed || !ends_.contains(RankClassId{rank_class})) return;
    (was_slow ? work.contended : work.clean) += now.femtoseconds - work.since.femtoseconds;
    work.since = now;
    const double undisturbed = static_cast<double>(work.ticks - work.clean);
    if (undisturbed * factor_ >= 9.2e18 - static_cast<double>(now.femtoseconds)) {
        throw RangeError("simulated time leaves the clock's range of 0 to 9,200 s");
    }
    ends_.set(RankClassId{rank_class}, {now.femtoseconds + std::max(left(work), std::int64_t{0})});
}

// Of a work, while what is beside it does not change.
std::int64_t ContendedWork::left(const Work& work) const {
    const std::int64_t undisturbed = work.ticks - work.clean;
    return work.is_slow ? std::llround(static_cast<double>(undisturbed) * factor_) - work.contended
                        : undisturbed - std::llround(static_cast<double>(work.contended) / factor_);
}

OpId ContendedWork::pop() {
    WEFT_CHECK(ends_.next() != Instant::never(), "no computation is under way");
    return work_[index(ends_.pop())].op;
}

}  // namespace weft
