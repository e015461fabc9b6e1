#include "sim/engine/contended_work.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/engine/ticks.hpp"
#include "sim/event/heap.hpp"

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
    heap_.reserve(number);
}

std::uint32_t ContendedWork::start(Instant now, OpId compute, std::int64_t ticks) {
    const std::uint32_t rank_class = class_of_[compute];
    Work& work = work_[rank_class];
    WEFT_CHECK(work.place == outside, "two ops at a time on one lane");
    work.op = compute;
    work.ticks = ticks;
    work.clean = work.contended = 0;
    work.since = now;
    work.end = after(now, ticks);
    work.place = heap_.size();
    heap_.push_back({});
    place(rank_class);
    mark(rank_class);
    return rank_class;
}

void ContendedWork::resume(Instant now, OpId compute, std::int64_t ticks, const Begun& begun) {
    const std::uint32_t rank_class = start(now, compute, ticks);
    Work& work = work_[rank_class];
    work.since = begun.since;
    work.contended = begun.contended;
    work.is_slow = begun.is_slow;
    work.end = after(begun.since, left(work));
    place(rank_class);
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
    for (const std::uint32_t number : changed_) {
        if (settle(work_[number], now)) place(number);
    }
    changed_.clear();
}

// Whether the end moved. It stays where it is, to the tick, while nothing changes: each form of what is left loses one
// tick per tick.
bool ContendedWork::settle(Work& work, Instant now) const {
    const bool was_slow = work.is_slow;
    work.is_slow = work.transfers > 0;
    work.is_changed = false;
    if (work.place == outside || (!was_slow && !work.is_slow)) return false;  // the end is that of undisturbed work
    (was_slow ? work.contended : work.clean) += now.femtoseconds - work.since.femtoseconds;
    work.since = now;
    const double undisturbed = static_cast<double>(work.ticks - work.clean);
    if (undisturbed * factor_ >= 9.2e18 - static_cast<double>(now.femtoseconds)) {
        throw RangeError("simulated time leaves the clock's range of 0 to 9,200 s");
    }
    const Instant end{now.femtoseconds + std::max(left(work), std::int64_t{0})};
    return std::exchange(work.end, end) != end;
}

// Of a work, while what is beside it does not change.
std::int64_t ContendedWork::left(const Work& work) const {
    const std::int64_t undisturbed = work.ticks - work.clean;
    return work.is_slow ? std::llround(static_cast<double>(undisturbed) * factor_) - work.contended
                        : undisturbed - std::llround(static_cast<double>(work.contended) / factor_);
}

// Puts a class of the heap where its end belongs.
void ContendedWork::place(std::uint32_t rank_class) {
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
        return work_[a].end != work_[b].end ? work_[a].end < work_[b].end : a < b;
    };
    const auto placed = [&](std::uint32_t item, std::size_t at) { work_[item].place = at; };
    heap::sift_up(heap_, work_[rank_class].place, rank_class, earlier, placed);
    heap::sift_down(heap_, work_[rank_class].place, rank_class, earlier, placed);
}

OpId ContendedWork::pop() {
    WEFT_CHECK(!heap_.empty(), "no computation is under way");
    const std::uint32_t first = heap_.front(), last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) {
        work_[last].place = 0;
        place(last);
    }
    work_[first].place = outside;
    return work_[first].op;
}

}  // namespace weft
