// Which patterns are on which constraints.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/network/water_filling.hpp"

namespace weft {
namespace {

// Moves a row that has no room left to the end of all, with room for more.
template <class T>
void widen(std::vector<T>& all, std::uint32_t& first, std::uint32_t& room, std::uint32_t used) {
    const std::size_t to = all.size();
    const std::uint32_t wide = std::max(4U, 2 * room);
    WEFT_CHECK(to + wide < std::numeric_limits<std::uint32_t>::max(), "too many demands");
    all.resize(to + wide);
    std::copy_n(all.begin() + first, used, all.begin() + static_cast<std::ptrdiff_t>(to));
    first = static_cast<std::uint32_t>(to);
    room = wide;
}

template <class T>
void make_room(std::vector<T>& all, std::size_t items) {
    if (all.capacity() < items) all.reserve(std::max(items, 2 * all.capacity()));
}

}  // namespace

void WaterFilling::reserve(std::size_t constraints, std::size_t patterns, std::size_t demands) {
    constraints_.reserve(constraints);
    patterns_.reserve(patterns);
    demands_.reserve(demands);
    members_.reserve(demands);
}

// A unit is a small part of the capacity, which is so many of them exactly.
ConstraintId WaterFilling::add_constraint(BytesPerSecond capacity, double least, double most, std::uint32_t patterns) {
    const int unit = std::ilogb(capacity.value) - 55;
    const int part = std::max(std::ilogb(least) - 52, std::ilogb(most) - 61);
    const ConstraintId id = constraints_.end_id();
    constraints_.resize(constraints_.size() + 1);
    ConstraintState& state = constraints_[id];
    state.units = std::ldexp(1.0, -unit);
    state.scale = std::ldexp(1.0, unit - part);
    state.capacity = static_cast<std::int64_t>(capacity.value * state.units);
    state.brim = state.capacity - (state.capacity >> 36U);
    state.first = static_cast<std::uint32_t>(members_.size());
    state.room = patterns;
    WEFT_CHECK(members_.size() + patterns < std::numeric_limits<std::uint32_t>::max(), "too many demands");
    members_.resize(members_.size() + patterns);
    make_room(dirty_, constraints_.size());
    make_room(watched_, constraints_.size());
    make_room(limits_, 2 * constraints_.size());  // with one each that came before it was expected to
    return id;
}

PatternId WaterFilling::add_pattern(std::uint32_t demands) {
    PatternState state;
    state.first = static_cast<std::uint32_t>(demands_.size());
    state.room = demands;
    demands_.resize(demands_.size() + demands);
    const PatternId id = patterns_.push_back(state);
    make_room(changed_, patterns_.size());
    make_room(solved_, patterns_.size());
    make_room(rising_, patterns_.size());
    return id;
}

// What it uses at its old rate goes off its constraints.
void WaterFilling::set_flows(PatternId id, std::uint32_t flows, double limit) {
    PatternState& pattern = patterns_[id];
    change(id);
    for (Demand& demand : demands(pattern)) {
        ConstraintState& constraint = constraints_[demand.constraint];
        constraint.used -= std::exchange(demand.used, 0);
        if (constraint.is_full) mark_dirty(demand.constraint);
    }
    pattern.flows = flows;
    pattern.limit = limit;
    pattern.rate = 0.0;
    pattern.bottleneck = nothing;
}

void WaterFilling::set_alone(PatternId id, std::uint32_t flows, double limit) {
    PatternState& pattern = patterns_[id];
    pattern.flows = flows;
    pattern.limit = pattern.rate = limit;
    pattern.bottleneck = nothing;
}

void WaterFilling::change(PatternId pattern) {
    if (!std::exchange(patterns_[pattern].is_changed, true)) changed_.push_back(pattern);
}

void WaterFilling::mark_dirty(ConstraintId constraint) {
    if (!std::exchange(constraints_[constraint].is_dirty, true)) dirty_.push_back(constraint);
}

void WaterFilling::expect_full(ConstraintId constraint) {
    constraints_[constraint].is_full = true;
    mark_dirty(constraint);
}

void WaterFilling::attach(PatternId id, ConstraintId to, double load) {
    PatternState& pattern = patterns_[id];
    ConstraintState& constraint = constraints_[to];
    if (pattern.demands == pattern.room) {
        widen(demands_, pattern.first, pattern.room, pattern.demands);
        for (std::uint32_t at = pattern.first; const Demand& moved : demands(pattern)) {
            members_[constraints_[moved.constraint].first + moved.place].demand = at++;
        }
    }
    if (constraint.patterns == constraint.room) widen(members_, constraint.first, constraint.room, constraint.patterns);
    const std::uint32_t at = pattern.first + pattern.demands++;
    Demand& demand = demands_[at];
    demand = {.load = load * constraint.units, .constraint = to, .place = constraint.patterns++};
    demand.used = units(pattern, demand, pattern.rate);
    members_[constraint.first + demand.place] = {at, id};
    constraint.used += demand.used;
    if (constraint.is_full || is_used_up(constraint)) mark_dirty(to);
}

void WaterFilling::detach_from_constraint(const Demand& demand) {
    ConstraintState& constraint = constraints_[demand.constraint];
    constraint.used -= demand.used;
    const Member last = members_[constraint.first + --constraint.patterns];
    members_[constraint.first + demand.place] = last;
    demands_[last.demand].place = demand.place;
    if (constraint.is_full) mark_dirty(demand.constraint);
}

void WaterFilling::detach_all(PatternId id) {
    PatternState& pattern = patterns_[id];
    for (const Demand& demand : demands(pattern)) detach_from_constraint(demand);
    pattern.demands = 0;
}

void WaterFilling::detach_all(ConstraintId id) {
    ConstraintState& constraint = constraints_[id];
    for (const Member& member : on(constraint)) {
        PatternState& pattern = patterns_[member.pattern];
        if (pattern.bottleneck == index(id)) change(member.pattern);
        const std::uint32_t last = pattern.first + --pattern.demands;
        if (last == member.demand) continue;
        const Demand& moved = demands_[member.demand] = demands_[last];
        members_[constraints_[moved.constraint].first + moved.place].demand = member.demand;
    }
    constraint.patterns = 0;
    constraint.used = 0;
    constraint.is_full = false;
    constraint.level = std::numeric_limits<double>::infinity();
}

}  // namespace weft
