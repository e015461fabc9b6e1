// How patterns and constraints are laid out for solving: which constraints are kept, and what patterns use of them.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/network/max_min.hpp"

namespace weft {

MaxMin::MaxMin(const std::vector<Constraint>& constraints, const Table<PatternId, Pattern>& patterns)
    : patterns_(patterns.size()) {
    for (PatternId id{}; id != patterns.end_id(); id = next(id)) patterns_[id].cap = patterns[id].cap.value;
    find_tightest(constraints);
    std::vector<Constraint> kept;
    std::ranges::copy_if(constraints, std::back_inserter(kept), [&](const Constraint& each) { return can_fill(each); });
    lay_out_demands(kept);
    crowded_out_.reserve(patterns_.size());
    changed_.reserve(patterns_.size());
    solved_.reserve(patterns_.size());
    stopped_.reserve(patterns_.size());
    crossed_.reserve(constraints_.size());
    loosened_.reserve(constraints_.size());
    limits_.reserve(patterns_.size() + constraints_.size());
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
    return most > constraint.capacity.value * (1.0 + same_level);
}

void MaxMin::lay_out_demands(const std::vector<Constraint>& constraints) {
    constraints_.resize(constraints.size());
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
    row_.reserve(total);
    tight_.resize(total);
    tight_place_.resize(total);
    loosened_in_.resize(constraints.size());
    std::vector<std::uint32_t> filled(patterns_.size(), 0);
    for (ConstraintId id{}; id != constraints_.end_id(); id = next(id)) {
        constraints_[id].capacity = constraints[index(id)].capacity.value;
        for (const Crossing& crossing : constraints[index(id)].crossings) {
            const auto at = patterns_[crossing.pattern].first_demand + filled[index(crossing.pattern)]++;
            demands_[at] = {id, crossing.load};
            demander_[at] = crossing.pattern;
            row_.push_back(at);
        }
        row_end_.push_back(static_cast<std::uint32_t>(row_.size()));
    }
    lay_out_uses();
}

// A constraint of which all patterns together would use more parts than a counter holds is taken to be tight always.
void MaxMin::lay_out_uses() {
    std::vector<double> parts;  // by demand
    Table<ConstraintId, double> sum(constraints_.size(), 0.0);
    parts.reserve(demands_.size());
    for (std::uint32_t at = 0; at < demands_.size(); ++at) {
        const auto [constraint, load] = demands_[at];
        const PatternState& pattern = patterns_[demander_[at]];
        const double share = load * (pattern.capacity / pattern.load) / constraints_[constraint].capacity;
        parts.push_back(std::ceil(share * full - 1e-6));  // 1 + rounding is 1
        sum[constraint] += parts.back();
    }
    const auto is_crowded = [&](ConstraintId id) { return sum[id] > PackedParts::most; };
    most_.resize(constraints_.size() / PackedParts::size + 1);
    for (ConstraintId id{}; id != constraints_.end_id(); id = next(id)) {
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
