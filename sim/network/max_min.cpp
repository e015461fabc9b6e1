#include "sim/network/max_min.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/event/heap.hpp"

namespace weft {

void MaxMin::set_flows(PatternId pattern, std::uint32_t flows) {
    PatternState& state = patterns_[pattern];
    if (state.changed != round_) changed_.push_back(pattern);
    state.changed = round_;
    const std::uint32_t before = std::exchange(state.flows, flows);
    if (before == 0 && flows > 0) enter(pattern);
    if (before > 0 && flows == 0) leave(pattern);
}

bool MaxMin::reserve(PatternId pattern) {
    PatternState& state = patterns_[pattern];
    WEFT_CHECK(state.flows == 0, "room is kept for a pattern without flows");
    if (state.has_room) return false;
    for (const Uses& uses : uses_of(state)) {
        PackedParts most = most_[uses.block];
        most += uses.most;
        if (!most.any_above(full)) continue;
        bool can_fill = false;
        for_each_demand(
            uses, [&](std::uint32_t at) { can_fill = can_fill || is_tight(most[place_of(demands_[at].constraint)]); });
        if (can_fill) return false;
    }
    for (const Uses& uses : uses_of(state)) most_[uses.block] += uses.most;
    state.has_room = true;
    ++reserved_;
    return true;
}

void MaxMin::release(PatternId pattern) {
    PatternState& state = patterns_[pattern];
    WEFT_CHECK(std::exchange(state.has_room, false), "no room is kept for the pattern");
    for (const Uses& uses : uses_of(state)) most_[uses.block] -= uses.most;
    --reserved_;
}

BytesPerSecond MaxMin::lone_rate(PatternId pattern) const { return {limit_of(patterns_[pattern], 1)}; }

void MaxMin::take_crowded_out(std::vector<PatternId>& patterns) {
    patterns.insert(patterns.end(), crowded_out_.begin(), crowded_out_.end());
    crowded_out_.clear();
}

// Takes the room away that the pattern may have.
void MaxMin::crowd_out(PatternId pattern) {
    if (!patterns_[pattern].has_room) return;
    release(pattern);
    crowded_out_.push_back(pattern);
}

// Nobody keeps room on the pattern itself, or on a constraint that can be used up with it.
void MaxMin::enter(PatternId pattern) {
    crowd_out(pattern);
    for (const Uses& uses : uses_of(patterns_[pattern])) {
        PackedParts& most = most_[uses.block];
        most += uses.most;
        if (!most.any_above(full)) continue;
        for_each_demand(uses, [&](std::uint32_t at) {
            const ConstraintId constraint = demands_[at].constraint;
            const std::size_t i = place_of(constraint);
            if (reserved_ > 0 && is_tight(most[i])) {
                for_each_demand_on(constraint, [this](std::uint32_t demand) { crowd_out(demander_[demand]); });
            }
            if (!is_tight(most[i])) return;
            if (is_tight(most[i] - uses.most[i])) {
                add_tight(at);
            } else {
                for_each_active(constraint, [this](std::uint32_t demand) { add_tight(demand); });
            }
        });
    }
}

void MaxMin::leave(PatternId pattern) {
    PatternState& state = patterns_[pattern];
    for (const Uses& uses : uses_of(state)) {
        PackedParts& most = most_[uses.block];
        const bool had_tight = most.any_above(full);
        most -= uses.most;
        if (!had_tight) continue;
        for_each_demand(uses, [&](std::uint32_t at) {
            const ConstraintId constraint = demands_[at].constraint;
            const std::size_t i = place_of(constraint);
            if (!is_tight(most[i] + uses.most[i])) return;
            if (std::exchange(loosened_in_[constraint], round_) != round_) loosened_.push_back(constraint);
            if (is_tight(most[i])) return;
            for_each_active(constraint, [this](std::uint32_t demand) { remove_tight(demand); });
        });
    }
    state.tight = 0;
}

void MaxMin::add_tight(std::uint32_t demand) {
    PatternState& state = patterns_[demander_[demand]];
    tight_place_[demand] = state.first_demand + state.tight++;
    tight_[tight_place_[demand]] = demand;
}

void MaxMin::remove_tight(std::uint32_t demand) {
    PatternState& state = patterns_[demander_[demand]];
    const std::uint32_t last = tight_[state.first_demand + --state.tight];
    tight_place_[last] = tight_place_[demand];
    tight_[tight_place_[last]] = last;
}

std::span<const PatternId> MaxMin::solve() {
    solved_.clear();
    for (const PatternId pattern : changed_) {
        PatternState& state = patterns_[pattern];
        if (state.flows > 0) {
            solve_around(pattern);
        } else {
            state.rate = 0.0;
        }
    }
    for (const ConstraintId constraint : loosened_) {
        for_each_active(constraint, [this](std::uint32_t demand) { solve_around(demander_[demand]); });
    }
    loosened_.clear();
    changed_.clear();
    ++round_;
    return solved_;
}

// Solves the component that `seed` belongs to, unless this round has done so.
void MaxMin::solve_around(PatternId seed) {
    if (patterns_[seed].visited == round_) return;
    const std::size_t first = solved_.size();
    reach(seed);
    if (patterns_[seed].tight == 0) {
        patterns_[seed].rate = limit_of(patterns_[seed]);
        WEFT_CHECK(std::isfinite(patterns_[seed].rate), "nothing limits the rate of a pattern");
        WEFT_CHECK(patterns_[seed].rate > 0.0, "a rate must be above zero");
        return;
    }
    crossed_.clear();
    for (std::size_t i = first; i < solved_.size(); ++i) {
        for (const std::uint32_t own : tight(patterns_[solved_[i]])) {
            const Demand& demand = demands_[own];
            ConstraintState& constraint = constraints_[demand.constraint];
            if (std::exchange(constraint.visited, round_) == round_) continue;
            crossed_.push_back(demand.constraint);
            constraint.rising = 0;
            for_each_active(demand.constraint, [&](std::uint32_t other) {
                reach(demander_[other]);
                ++constraint.rising;
            });
        }
    }
    // Sums are taken in this order, so that their rounding does not depend on how the component was reached.
    std::sort(solved_.begin() + static_cast<std::ptrdiff_t>(first), solved_.end());
    const std::span<const PatternId> component = std::span(solved_).subspan(first);
    sum_demands(component);
    gather_limits(component);
    fill(component);
}

void MaxMin::reach(PatternId pattern) {
    if (std::exchange(patterns_[pattern].visited, round_) != round_) solved_.push_back(pattern);
}

void MaxMin::sum_demands(std::span<const PatternId> component) {
    for (const ConstraintId id : crossed_) {
        ConstraintState& constraint = constraints_[id];
        constraint.residual = constraint.capacity;
        constraint.demand = 0.0;
    }
    for (const PatternId pattern : component) {
        const PatternState& state = patterns_[pattern];
        for (const std::uint32_t own : tight(state)) {
            constraints_[demands_[own].constraint].demand += state.flows * demands_[own].load;
        }
    }
}

void MaxMin::gather_limits(std::span<const PatternId> component) {
    limits_.clear();
    for (const ConstraintId id : crossed_) {
        limits_.push_back({constraints_[id].residual / constraints_[id].demand, static_cast<std::uint32_t>(id)});
    }
    const auto past_constraints = static_cast<std::uint32_t>(constraints_.size());
    for (const PatternId pattern : component) {
        const double own = limit_of(patterns_[pattern]);
        if (std::isfinite(own)) limits_.push_back({own, past_constraints + static_cast<std::uint32_t>(pattern)});
    }
    heap::make(limits_, lower);
}

// The level of a constraint never falls while others freeze, so a limit on the heap is never too high: the first one
// that proves up to date is the lowest of all.
void MaxMin::fill(std::span<const PatternId> component) {
    double level = 0.0;
    for (std::size_t rising = component.size(); rising > 0; rising -= stopped_.size()) {
        WEFT_CHECK(!limits_.empty(), "nothing limits the rate of a pattern");
        Limit limit = heap::pop(limits_, lower);
        stopped_.clear();
        if (has_moved_up(limit)) {
            heap::push(limits_, limit, lower);
            continue;
        }
        choose_stopped(limit);
        if (stopped_.empty()) continue;
        if (limit.level > level * (1.0 + same_level)) level = limit.level;
        WEFT_CHECK(std::isfinite(level) && level > 0.0, "a rate must be above zero and finite");
        for (const PatternId pattern : stopped_) freeze(pattern, level);
    }
}

bool MaxMin::has_moved_up(Limit& limit) const {
    if (limit.what >= constraints_.size()) return false;
    const ConstraintState& constraint = constraints_[ConstraintId(limit.what)];
    if (constraint.rising == 0) return false;
    const double level = constraint.residual / constraint.demand;
    return level > std::exchange(limit.level, std::max(limit.level, level));
}

// The rising patterns that a limit stops, in pattern order.
void MaxMin::choose_stopped(const Limit& limit) {
    if (limit.what >= constraints_.size()) {
        const auto pattern = PatternId(limit.what - static_cast<std::uint32_t>(constraints_.size()));
        if (patterns_[pattern].frozen != round_) stopped_.push_back(pattern);
        return;
    }
    const ConstraintState& constraint = constraints_[ConstraintId(limit.what)];
    if (constraint.rising == 0) return;
    for_each_active(ConstraintId(limit.what), [this](std::uint32_t demand) {
        if (patterns_[demander_[demand]].frozen != round_) stopped_.push_back(demander_[demand]);
    });
    std::sort(stopped_.begin(), stopped_.end());
}

void MaxMin::freeze(PatternId pattern, double level) {
    PatternState& state = patterns_[pattern];
    state.frozen = round_;
    state.rate = level;
    for (const std::uint32_t own : tight(state)) {
        const Demand& demand = demands_[own];
        ConstraintState& constraint = constraints_[demand.constraint];
        const double share = state.flows * demand.load;
        constraint.residual -= share * level;
        constraint.demand -= share;
        --constraint.rising;
    }
}

}  // namespace weft
