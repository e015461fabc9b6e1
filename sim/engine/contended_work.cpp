#include "sim/engine/contended_work.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"
#include "sim/event/heap.hpp"

namespace weft {

ContendedWork::ContendedWork(const Program& program)
    : program_(program), factor_(program.interference), lanes_(program.lanes.size()) {
    WEFT_CHECK(std::isfinite(factor_) && factor_ >= 1.0, "interference is a factor of at least 1");
    if (!is_needed()) return;
    class_of_.reserve(program.ops.size());
    std::uint32_t number = 0;
    for (const RankClass& rank_class : program.classes) {
        for (std::uint32_t i = 0; i < rank_class.ops; ++i) class_of_.push_back(number);
        ++number;
    }
    classes_.resize(number);
    slots_.resize(number * lanes_);
    changed_.reserve(number);
    heap_.reserve(slots_.size());
}

void ContendedWork::start(Instant now, OpId compute) {
    const Op& op = program_.ops[compute];
    Slot& slot = slots_[class_of_[compute] * lanes_ + index(op.lane)];
    WEFT_CHECK(slot.place == outside, "two ops at a time on one lane");
    slot = {.op = compute,
            .work = (Instant{} + program_.work[op.subject]).femtoseconds,
            .since = now,
            .end = now + program_.work[op.subject],
            .place = heap_.size()};
    heap_.push_back({});
    place(static_cast<std::uint32_t>(&slot - slots_.data()));
    mark(class_of_[compute]);
}

void ContendedWork::begin_transfer(OpId party) {
    ++classes_[class_of_[party]].transfers;
    mark(class_of_[party]);
}

void ContendedWork::end_transfer(OpId party) {
    WEFT_CHECK(classes_[class_of_[party]].transfers > 0, "a transfer ends that never began");
    --classes_[class_of_[party]].transfers;
    mark(class_of_[party]);
}

void ContendedWork::mark(std::uint32_t rank_class) {
    if (classes_[rank_class].is_changed) return;
    classes_[rank_class].is_changed = true;
    changed_.push_back(rank_class);
}

void ContendedWork::settle(Instant now) {
    for (const std::uint32_t number : changed_) {
        Class& rank_class = classes_[number];
        const bool was_slow = rank_class.is_slow;
        rank_class.is_slow = rank_class.transfers > 0;
        rank_class.is_changed = false;
        if (!was_slow && !rank_class.is_slow) continue;  // ends are those of undisturbed work
        for (std::size_t i = number * lanes_; i < (number + 1) * lanes_; ++i) {
            if (slots_[i].place == outside) continue;
            settle(slots_[i], now, was_slow, rank_class.is_slow);
            place(static_cast<std::uint32_t>(i));
        }
    }
    changed_.clear();
}

// Ends stay where they are, to the tick, while nothing changes: each form of what is left loses one tick per tick.
void ContendedWork::settle(Slot& slot, Instant now, bool was_slow, bool is_slow) const {
    (was_slow ? slot.contended : slot.clean) += now.femtoseconds - slot.since.femtoseconds;
    slot.since = now;
    const std::int64_t undisturbed = slot.work - slot.clean;
    if (static_cast<double>(undisturbed) * factor_ >= 9.2e18 - static_cast<double>(now.femtoseconds)) {
        throw RangeError("simulated time leaves the clock's range of 0 to 9,200 s");
    }
    const std::int64_t left = is_slow ? std::llround(static_cast<double>(undisturbed) * factor_) - slot.contended
                                      : undisturbed - std::llround(static_cast<double>(slot.contended) / factor_);
    slot.end = {now.femtoseconds + std::max(left, std::int64_t{0})};
}

// Puts a slot of the heap where its end belongs.
void ContendedWork::place(std::uint32_t slot) {
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
        return slots_[a].end != slots_[b].end ? slots_[a].end < slots_[b].end : a < b;
    };
    const auto placed = [&](std::uint32_t item, std::size_t at) { slots_[item].place = at; };
    heap::sift_up(heap_, slots_[slot].place, slot, earlier, placed);
    heap::sift_down(heap_, slots_[slot].place, slot, earlier, placed);
}

OpId ContendedWork::pop() {
    WEFT_CHECK(!heap_.empty(), "no computation is under way");
    const std::uint32_t first = heap_.front(), last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) {
        slots_[last].place = 0;
        place(last);
    }
    slots_[first].place = outside;
    return slots_[first].op;
}

}  // namespace weft
