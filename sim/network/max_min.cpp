#include "sim/network/max_min.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/event/heap.hpp"

namespace weft {
namespace {

// Levels this close are one level. Rounding may part constraints that are used up together by symmetry; flows that
// ought to have equal rates shall have equal bits, or their ends would fall on different instants.
constexpr double same_level = 1e-12;

}  // namespace

MaxMin::MaxMin(const std::vector<Constraint>& constraints, const Table<PatternId, Pattern>& patterns)
    : patterns_(patterns.size()), constraints_(constraints.size()) {
    for (PatternId id{}; id != patterns.end_id(); id = next(id)) patterns_[id].cap = patterns[id].cap.value;
    lay_out_demands(constraints);
    changed_.reserve(patterns_.size());
    solved_.reserve(patterns_.size());
    stopped_.reserve(patterns_.size());
    crossed_.reserve(constraints_.size());
    limits_.reserve(patterns_.size() + constraints_.size());
}

void MaxMin::lay_out_demands(const std::vector<Constraint>& constraints) {
    std::size_t total = 0;
    for (const Constraint& constraint : constraints) {
        total += constraint.crossings.size();
        for (const Crossing& crossing : constraint.crossings) ++patterns_[crossing.pattern].demands;
    }
    WEFT_CHECK(total < std::numeric_limits<std::uint32_t>::max(), "too many demands");
    std::uint32_t first = 0;
    for (PatternState& pattern : patterns_) pattern.first_demand = std::exchange(first, first + pattern.demands);
    demands_.resize(total);
    demander_.resize(total);
    beside_.resize(total);
    active_.assign(constraints.size(), none);
    std::vector<std::uint32_t> filled(patterns_.size(), 0);
    for (ConstraintId id{}; id != constraints_.end_id(); id = next(id)) {
        constraints_[id].capacity = constraints[index(id)].capacity.value;
        for (const Crossing& crossing : constraints[index(id)].crossings) {
            const auto at = patterns_[crossing.pattern].first_demand + filled[index(crossing.pattern)]++;
            demands_[at] = {id, crossing.load};
            demander_[at] = crossing.pattern;
        }
    }
}

void MaxMin::set_flows(PatternId pattern, std::uint32_t flows) {
    PatternState& state = patterns_[pattern];
    if (state.changed != round_) changed_.push_back(pattern);
    state.changed = round_;
    const std::uint32_t before = std::exchange(state.flows, flows);
    if (before == 0 && flows > 0) enter(pattern);
    if (before > 0 && flows == 0) leave(pattern);
}

void MaxMin::enter(PatternId pattern) {
    const PatternState& state = patterns_[pattern];
    for (std::uint32_t at = state.first_demand; at < state.first_demand + state.demands; ++at) {
        std::uint32_t& first = active_[index(demands_[at].constraint)];
        beside_[at] = {none, first};
        if (first != none) beside_[first].previous = at;
        first = at;
    }
}

void MaxMin::leave(PatternId pattern) {
    const PatternState& state = patterns_[pattern];
    for (std::uint32_t at = state.first_demand; at < state.first_demand + state.demands; ++at) {
        const auto [previous, next] = beside_[at];
        (previous == none ? active_[index(demands_[at].constraint)] : beside_[previous].next) = next;
        if (next != none) beside_[next].previous = previous;
    }
}

std::span<const PatternId> MaxMin::solve() {
    solved_.clear();
    for (const PatternId pattern : changed_) {
        PatternState& state = patterns_[pattern];
        if (state.flows > 0) {
            solve_around(pattern);
            continue;
        }
        state.rate = 0.0;  // those it shared constraints with may rise, and need not be connected any more
        for (const Demand& demand : demands(state)) {
            for (std::uint32_t at = active_[index(demand.constraint)]; at != none; at = beside_[at].next) {
                solve_around(demander_[at]);
            }
        }
    }
    changed_.clear();
    ++round_;
    return solved_;
}

// Solves the component that `seed` belongs to, unless this round has done so.
void MaxMin::solve_around(PatternId seed) {
    if (patterns_[seed].visited == round_) return;
    const std::size_t first = solved_.size();
    reach(seed);
    if (is_alone(patterns_[seed])) return solve_alone(patterns_[seed]);
    crossed_.clear();
    for (std::size_t i = first; i < solved_.size(); ++i) {
        for (const Demand& demand : demands(patterns_[solved_[i]])) {
            ConstraintState& constraint = constraints_[demand.constraint];
            if (std::exchange(constraint.visited, round_) == round_) continue;
            crossed_.push_back(demand.constraint);
            constraint.rising = 0;
            for (std::uint32_t at = active_[index(demand.constraint)]; at != none; at = beside_[at].next) {
                reach(demander_[at]);
                ++constraint.rising;
            }
        }
    }
    // Sums are taken in this order, so that their rounding does not depend on how the component was reached.
    std::sort(solved_.begin() + static_cast<std::ptrdiff_t>(first), solved_.end());
    const std::span<const PatternId> component = std::span(solved_).subspan(first);
    sum_demands(component);
    gather_limits(component);
    fill(component);
}

bool MaxMin::is_alone(const PatternState& pattern) const {
    const auto own = std::span(beside_).subspan(pattern.first_demand, pattern.demands);
    return std::ranges::all_of(own, [](const Neighbours& n) { return n.previous == none && n.next == none; });
}

// What fill() comes to for one pattern: its lowest limit.
void MaxMin::solve_alone(PatternState& pattern) const {
    if (pattern.flows == 1 && pattern.alone > 0.0) {
        pattern.rate = pattern.alone;
        return;
    }
    double level = pattern.cap;
    for (const Demand& demand : demands(pattern)) {
        level = std::min(level, constraints_[demand.constraint].capacity / (pattern.flows * demand.load));
    }
    WEFT_CHECK(level < std::numeric_limits<double>::infinity(), "nothing limits the rate of a pattern");
    WEFT_CHECK(level > 0.0, "a rate must be above zero");
    pattern.rate = level;
    if (pattern.flows == 1) pattern.alone = level;
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
        for (const Demand& demand : demands(state)) constraints_[demand.constraint].demand += state.flows * demand.load;
    }
}

void MaxMin::gather_limits(std::span<const PatternId> component) {
    limits_.clear();
    for (const ConstraintId id : crossed_) {
        limits_.push_back({constraints_[id].residual / constraints_[id].demand, static_cast<std::uint32_t>(id)});
    }
    const auto past_constraints = static_cast<std::uint32_t>(constraints_.size());
    for (const PatternId pattern : component) {
        const double cap = patterns_[pattern].cap;
        if (std::isfinite(cap)) limits_.push_back({cap, past_constraints + static_cast<std::uint32_t>(pattern)});
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
    for (std::uint32_t at = active_[index(ConstraintId(limit.what))]; at != none; at = beside_[at].next) {
        if (patterns_[demander_[at]].frozen != round_) stopped_.push_back(demander_[at]);
    }
    std::sort(stopped_.begin(), stopped_.end());
}

void MaxMin::freeze(PatternId pattern, double level) {
    PatternState& state = patterns_[pattern];
    state.frozen = round_;
    state.rate = level;
    for (const Demand& demand : demands(state)) {
        ConstraintState& constraint = constraints_[demand.constraint];
        const double share = state.flows * demand.load;
        constraint.residual -= share * level;
        constraint.demand -= share;
        --constraint.rising;
    }
}

}  // namespace weft
