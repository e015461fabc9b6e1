#include "sim/network/max_min.hpp"

#include <utility>

#include "sim/base/check.hpp"

namespace weft {

void MaxMin::set_flows(PatternId pattern, std::uint32_t flows) {
    const std::uint32_t before = filling_.flows(pattern);
    filling_.set_flows(pattern, flows, flows > 0 ? limit_of(patterns_[pattern], flows) : 0.0);
    is_active_[pattern] = flows > 0 ? 1 : 0;
    if (before == 0 && flows > 0) enter(pattern);
    if (before > 0 && flows == 0) leave(pattern);
}

bool MaxMin::reserve(PatternId pattern) {
    PatternState& state = patterns_[pattern];
    WEFT_CHECK(is_active_[pattern] == 0, "room is kept for a pattern without flows");
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
                for (const Crosser& other : on(constraint)) crowd_out(other.pattern);
            }
            if (!is_tight(most[i])) return;
            if (is_tight(most[i] - uses.most[i])) {
                filling_.attach(pattern, constraint, demands_[at].load);
            } else {
                for (const Crosser& each : on(constraint)) {
                    if (is_active_[each.pattern] != 0) {
                        filling_.attach(each.pattern, constraint, demands_[each.demand].load);
                    }
                }
            }
        });
    }
}

void MaxMin::leave(PatternId pattern) {
    filling_.detach_all(pattern);
    for (const Uses& uses : uses_of(patterns_[pattern])) {
        PackedParts& most = most_[uses.block];
        const bool had_tight = most.any_above(full);
        most -= uses.most;
        if (!had_tight) continue;
        for_each_demand(uses, [&](std::uint32_t at) {
            const ConstraintId constraint = demands_[at].constraint;
            const std::size_t i = place_of(constraint);
            if (is_tight(most[i] + uses.most[i]) && !is_tight(most[i])) filling_.detach_all(constraint);
        });
    }
}

}  // namespace weft
