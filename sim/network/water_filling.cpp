#include "sim/network/water_filling.hpp"

#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/event/heap.hpp"

namespace weft {

std::span<const PatternId> WaterFilling::solve() {
    ++solve_;
    solved_.clear();
    begin_pass();
    for (const PatternId id : changed_) {
        PatternState& pattern = patterns_[id];
        pattern.is_changed = false;
        if (pattern.flows == 0) continue;
        if (pattern.demands == 0) {
            stop(id, pattern.limit, nothing);
        } else {
            raise(id, 0.0);
        }
    }
    changed_.clear();
    watch_dirty();
    while (fill()) {
        begin_pass();
        watch_dirty();
    }
    return solved_;
}

void WaterFilling::begin_pass() {
    ++pass_;
    rising_.clear();
    watched_.clear();
}

// Those that were used up before, or are now.
void WaterFilling::watch_dirty() {
    for (const ConstraintId id : dirty_) {
        ConstraintState& constraint = constraints_[id];
        constraint.is_dirty = false;
        constraint.is_full = constraint.is_full || is_used_up(constraint);
        if (constraint.is_full && !is_watched(constraint)) watch(id, 0.0);
    }
    dirty_.clear();
}

// Whether constraints were used up that nobody watched.
bool WaterFilling::fill() {
    do {
        while (!limits_.empty()) {
            const Limit limit = heap::pop(limits_, lower);
            const ConstraintState& constraint = constraints_[limit.what];
            if (!constraint.is_settled && constraint.key == limit.level) handle(limit);
        }
        for (const PatternId pattern : rising_) {
            if (patterns_[pattern].found != pass_) stop(pattern, patterns_[pattern].limit, nothing);
        }
    } while (!limits_.empty());
    for (const ConstraintId id : watched_) constraints_[id].is_full = is_used_up(constraints_[id]);
    return !dirty_.empty();
}

// A pattern goes past the rate that it had: it may use up what it crosses before anything else does.
void WaterFilling::raise(PatternId id, double now) {
    PatternState& pattern = patterns_[id];
    if (is_rising(pattern) || pattern.found == pass_) return;
    pattern.rising = pass_;
    rising_.push_back(id);
    for (const Demand& demand : demands(pattern)) {
        ConstraintState& constraint = constraints_[demand.constraint];
        constraint.pending.any_rising = true;
        if (constraint.is_full && !is_watched(constraint)) watch(demand.constraint, now);
    }
}

// What is below `now` has happened.
void WaterFilling::watch(ConstraintId id, double now) {
    ConstraintState& constraint = constraints_[id];
    constraint.watched = pass_;
    watched_.push_back(id);
    constraint.is_settled = false;
    constraint.has_let_go = constraint.level < now || std::isinf(constraint.level);
    constraint.residual = constraint.capacity;
    constraint.demand = 0;
    constraint.highest = 0.0;
    constraint.pending = {};
    for (const Member& member : on(constraint)) {
        Demand& demand = demands_[member.demand];
        const PatternState& pattern = patterns_[member.pattern];
        const bool has_stopped = pattern.found == pass_ || (!is_rising(pattern) && pattern.rate < now);
        demand.stopped = has_stopped ? pass_ : 0;
        if (has_stopped) {
            constraint.residual -= demand.used;
            constraint.highest = std::max(constraint.highest, pattern.rate);
        } else {
            constraint.demand += weight(pattern, demand, constraint);
            add_pending(constraint, pattern);
        }
    }
    look_at(id);
}

void WaterFilling::add_pending(ConstraintState& constraint, const PatternState& pattern) {
    Pending& pending = constraint.pending;
    pending.lowest_stop = std::min(pending.lowest_stop, stop_of(pattern));
    pending.any_rising = pending.any_rising || is_rising(pattern);
}

// A pattern that was pending on a watched constraint.
void WaterFilling::count_as_stopped(ConstraintState& constraint, Demand& demand, const PatternState& pattern) {
    demand.stopped = pass_;
    constraint.residual -= demand.used;
    constraint.demand -= weight(pattern, demand, constraint);
    constraint.highest = std::max(constraint.highest, pattern.rate);
}

bool WaterFilling::is_at_highest(const ConstraintState& constraint) {
    return static_cast<double>(constraint.residual) * constraint.scale <=
           constraint.highest * (1.0 + same_level) * static_cast<double>(constraint.demand);
}

// At which the pending patterns on it use it up.
double WaterFilling::level_of(const ConstraintState& constraint) {
    if (is_at_highest(constraint)) return constraint.highest;
    return static_cast<double>(constraint.residual) * constraint.scale / static_cast<double>(constraint.demand);
}

void WaterFilling::queue(ConstraintId id, double level, Look look) {
    constraints_[id].key = level;
    heap::push(limits_, Limit{level, look, id}, lower);
}

// The level of a constraint never falls while others stop, unless they stop at that very level.
void WaterFilling::look_at(ConstraintId id) {
    ConstraintState& constraint = constraints_[id];
    const double lowest_stop = constraint.pending.lowest_stop;
    if (constraint.demand == 0) {
        constraint.is_settled = true;
        constraint.level = std::numeric_limits<double>::infinity();
        return;
    }
    const double level = level_of(constraint);
    const double next = constraint.has_let_go ? level : std::min(level, constraint.level);
    if (lowest_stop < next && lowest_stop >= level * (1.0 - near_level)) {
        queue(id, lowest_stop, Look::before);
    } else {
        queue(id, next, Look::full);
    }
}

void WaterFilling::handle(const Limit& limit) {
    ConstraintState& constraint = constraints_[limit.what];
    if (constraint.pending.lowest_stop <= limit.level) stop_below(limit.what, limit);
    if (constraint.demand > 0) {
        const double level = level_of(constraint);
        if (level <= limit.level) return stop_all(limit.what, level);
        if (!constraint.has_let_go && limit.level >= constraint.level) let_go(limit.what, limit.level);
        if (constraint.has_let_go && !constraint.pending.any_rising && !is_used_up(constraint)) {  // nor will it be
            constraint.is_full = false;
            constraint.is_settled = true;
            constraint.level = std::numeric_limits<double>::infinity();
            return;
        }
    }
    look_at(limit.what);
}

// Of the patterns on a constraint, those that stop for other reasons below the limit.
void WaterFilling::stop_below(ConstraintId id, const Limit& limit) {
    ConstraintState& constraint = constraints_[id];
    constraint.pending = {};
    for (const Member& member : on(constraint)) {
        Demand& demand = demands_[member.demand];
        if (demand.stopped == pass_) continue;
        const PatternState& pattern = patterns_[member.pattern];
        const double stops = stop_of(pattern);
        if (stops < limit.level || (stops == limit.level && limit.look == Look::before)) {
            if (is_rising(pattern)) {
                stop(member.pattern, stops, nothing);
            } else {
                count_as_stopped(constraint, demand, pattern);
            }
        } else {
            add_pending(constraint, pattern);
        }
    }
}

// It is not used up at the level at which it was: the patterns that it stopped there go on.
void WaterFilling::let_go(ConstraintId id, double now) {
    ConstraintState& constraint = constraints_[id];
    constraint.has_let_go = true;
    constraint.pending = {};
    for (const Member& member : on(constraint)) {
        if (demands_[member.demand].stopped == pass_) continue;
        const PatternState& pattern = patterns_[member.pattern];
        if (pattern.bottleneck == index(id)) raise(member.pattern, now);
        add_pending(constraint, pattern);
    }
}

void WaterFilling::stop_all(ConstraintId id, double level) {
    ConstraintState& constraint = constraints_[id];
    constraint.is_settled = true;
    constraint.level = level;
    for (const Member& member : on(constraint)) {
        if (demands_[member.demand].stopped != pass_) stop(member.pattern, level, static_cast<std::uint32_t>(id));
    }
}

void WaterFilling::stop(PatternId id, double level, std::uint32_t bottleneck) {
    WEFT_CHECK(std::isfinite(level), "nothing limits the rate of a pattern");
    WEFT_CHECK(level > 0.0, "a rate must be above zero");
    PatternState& pattern = patterns_[id];
    pattern.found = pass_;
    pattern.bottleneck = bottleneck;
    const bool moves = std::exchange(pattern.rate, level) != level;
    if (moves && std::exchange(pattern.solved, solve_) != solve_) solved_.push_back(id);
    for (Demand& demand : demands(pattern)) {
        ConstraintState& constraint = constraints_[demand.constraint];
        if (moves) {
            const std::int64_t before = std::exchange(demand.used, units(pattern, demand, level));
            constraint.used += demand.used - before;
            if (!constraint.is_full && is_used_up(constraint)) mark_dirty(demand.constraint);
        }
        if (!is_watched(constraint)) {
            if (moves && constraint.is_full) watch(demand.constraint, level);
        } else if (!constraint.is_settled && demand.stopped != pass_) {
            count_as_stopped(constraint, demand, pattern);
            if (constraint.demand > 0 && constraint.highest < constraint.key && is_at_highest(constraint)) {
                queue(demand.constraint, constraint.highest, Look::full);
            }
        }
    }
}

}  // namespace weft
