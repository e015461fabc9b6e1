// How patterns and constraints are laid out for solving: which constraints are kept, and what patterns use of them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/network/max_min.hpp"

namespace weft {

MaxMin::MaxMin(const std::vector<Constraint>& constraints, const Table<PatternId, Pattern>& patterns)
    : patterns_(patterns.size()), is_active_(patterns.size()) {
    for (PatternId id{}; id != patterns.end_id(); id = next(id)) patterns_[id].cap = patterns[id].cap.value;
    find_tightest(constraints);
    lay_out_demands(list_of_those<Constraint>(constraints, [&](const Constraint& each) { return can_fill(each); }));
    crowded_out_.reserve(patterns_.size());
}

void MaxMin::find_tightest(const std::vector<Constraint>& constraints) {
    for (PatternState& pattern : patterns_) {
        pattern.capacity = std::numeric_limits<double>::infinity();
        pattern.load = 1.0;
    }
    for (const Constraint& constraint : constraints) {
        for (const Crossing& crossing : constraint.crossings) {
            PatternState& pattern = patterns_[crossing.pattern];
            if (constraint.capacity.value / crossing.load >= pattern.capacity / pattern.load) continue;
            pattern.capacity = constraint.capacity.value;
            pattern.load = crossing.load;
        }
    }
}

bool MaxMin::can_fill(const Constraint& constraint) const {
    double most = 0.0;
    for (const Crossing& crossing : constraint.crossings) {
        const PatternState& pattern = patterns_[crossing.pattern];
        most += crossing.load * (pattern.capacity / pattern.load);
    }
    return most > constraint.capacity.value * (1.0 + 1e-12);
}

void MaxMin::lay_out_demands(const std::vector<Constraint>& constraints) {
    for (const Constraint& constraint : constraints) {
        for (const Crossing& crossing : constraint.crossings) ++patterns_[crossing.pattern].demands;
    }
    const auto demands = sum_of<std::size_t>(patterns_, &PatternState::demands);
    filling_.reserve(constraints.size(), patterns_.size(), demands);
    std::uint32_t total = 0;
    for (PatternState& pattern : patterns_) {
        pattern.first_demand = std::exchange(total, total + pattern.demands);
        filling_.add_pattern(pattern.demands);
    }
    demands_.resize(total);
    row_.reserve(total);
    row_end_.reserve(constraints.size());
    std::vector<std::uint32_t> filled(patterns_.size(), 0);
    for (const Constraint& constraint : constraints) {
        const auto [least, most] = std::ranges::minmax(constraint.crossings, {}, &Crossing::load);
        const ConstraintId id = filling_.add_constraint(constraint.capacity, least.load, most.load,
                                                        static_cast<std::uint32_t>(constraint.crossings.size()));
        for (const Crossing& crossing : constraint.crossings) {
            const auto at = patterns_[crossing.pattern].first_demand + filled[index(crossing.pattern)]++;
            demands_[at] = {id, crossing.load};
            row_.push_back({at, crossing.pattern});
        }
        row_end_.push_back(static_cast<std::uint32_t>(row_.size()));
    }
    lay_out_uses(constraints);
}

// A constraint of which all patterns together would use more parts than a counter holds is taken to be tight always.
void MaxMin::lay_out_uses(const std::vector<Constraint>& constraints) {
    std::vector<double> parts;  // by demand
    Table<ConstraintId, double> sum(constraints.size(), 0.0);
    parts.reserve(demands_.size());
    for (const PatternState& pattern : patterns_) {
        for (const Demand& demand : std::span(demands_).subspan(pattern.first_demand, pattern.demands)) {
            const double capacity = constraints[index(demand.constraint)].capacity.value;
            const double share = demand.load * (pattern.capacity / pattern.load) / capacity;
            parts.push_back(std::ceil(share * full - 1e-6));  // 1 + rounding is 1
            sum[demand.constraint] += parts.back();
        }
    }
    const auto is_crowded = [&](ConstraintId id) { return sum[id] > PackedParts::most; };
    most_.resize(constraints.size() / PackedParts::size + 1);
    for (ConstraintId id{}; index(id) < constraints.size(); id = next(id)) {
        if (is_crowded(id)) most_[block_of(id)].set(place_of(id), full + 1);
    }
    for (PatternState& pattern : patterns_) {
        pattern.first_uses = static_cast<std::uint32_t>(uses_.size());
        for (std::uint32_t at = pattern.first_demand; at < pattern.first_demand + pattern.demands; ++at) {
            const ConstraintId id = demands_[at].constraint;
            if (uses_.size() == pattern.first_uses || uses_.back().block != block_of(id)) {
                uses_.push_back({.most = {}, .block = block_of(id), .first = at});
            }
            Uses& uses = uses_.back();
            uses.members = static_cast<std::uint8_t>(uses.members | 1U << place_of(id));
            if (!is_crowded(id)) uses.most.set(place_of(id), static_cast<std::uint32_t>(parts[at]));
        }
        pattern.uses = static_cast<std::uint32_t>(uses_.size()) - pattern.first_uses;
    }
}

}  // namespace weft
