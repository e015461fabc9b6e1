// Max-min fair rates of patterns that are known beforehand.
//
// A pattern never uses more of anything than its tightest constraint lets through, however many flows it carries. A
// constraint that the patterns on it cannot use up so decides nothing: it is left out for good if all patterns
// cannot, and as long as those that have flows cannot. On a large machine that is nearly always so.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/network/constraints.hpp"
#include "sim/network/network_model.hpp"
#include "sim/network/water_filling.hpp"

namespace weft {

// Eight small counters in two words, which are added, taken off and compared with a limit all at once.
class PackedParts {
  public:
    static constexpr std::size_t size = 8;
    static constexpr std::uint32_t most = 0x7fff;  // of a counter: sums that exceed it are an error of the caller

    std::uint32_t operator[](std::size_t i) const { return words_[i / 4] >> 16U * (i % 4) & 0xffffU; }
    // A counter that is 0 becomes `value` <= most.
    void set(std::size_t i, std::uint32_t value) { words_[i / 4] |= std::uint64_t{value} << 16U * (i % 4); }

    // No counter may come above `most`, or below 0.
    void operator+=(const PackedParts& other) {
        words_[0] += other.words_[0];
        words_[1] += other.words_[1];
    }
    void operator-=(const PackedParts& other) {
        words_[0] -= other.words_[0];
        words_[1] -= other.words_[1];
    }

    // Whether any counter is above `limit` <= most: only then does adding what is missing to `most` reach the highest
    // bit.
    bool any_above(std::uint32_t limit) const {
        const std::uint64_t missing = (most - limit) * ones;
        return (((words_[0] + missing) | (words_[1] + missing)) & 0x8000U * ones) != 0;
    }

  private:
    static constexpr std::uint64_t ones = 0x0001'0001'0001'0001;
    std::array<std::uint64_t, 2> words_{};
};

class MaxMin {
  public:
    MaxMin(std::vector<Constraint> constraints, const Table<PatternId, Pattern>& patterns)
        : patterns_(patterns.size()), is_active_(patterns.size()) {
        for (PatternId id{}; id != patterns.end_id(); id = next(id)) patterns_[id].cap = patterns[id].cap.value;
        find_tightest(constraints);
        std::erase_if(constraints, [&](const Constraint& each) { return !can_fill(each); });
        lay_out_demands(constraints);
        crowded_out_.reserve(patterns_.size());
    }

    // `flows` on `pattern` from the next solve on; 0 takes it out. Allocates nothing.
    void set_flows(PatternId pattern, std::uint32_t flows) {
        const std::uint32_t before = filling_.flows(pattern);
        filling_.set_flows(pattern, flows, flows > 0 ? limit_of(patterns_[pattern], flows) : 0.0);
        is_active_[pattern] = flows > 0 ? 1 : 0;
        if (before == 0 && flows > 0) enter(pattern);
        if (before > 0 && flows == 0) leave(pattern);
    }

    // See WaterFilling. Allocates nothing.
    std::span<const PatternId> solve() { return filling_.solve(); }

    // Keeps room for one flow on a pattern that has none: true if, of all constraints on it, the patterns that have
    // flows or room cannot use up any together with it. As long as that is so, the one flow that may come and go has
    // its lone_rate, and nobody else's rate depends on whether it is there. A pattern that comes and would change that
    // takes the room away at once, see take_crowded_out. Allocates nothing.
    bool reserve(PatternId pattern) {
        PatternState& state = patterns_[pattern];
        WEFT_CHECK(is_active_[pattern] == 0, "room is kept for a pattern without flows");
        if (state.has_room) return false;
        for (const Uses& uses : uses_of(state)) {
            PackedParts most = most_[uses.block];
            most += uses.most;
            if (!most.any_above(full)) continue;
            bool can_fill = false;
            for_each_demand(uses, [&](std::uint32_t at) {
                can_fill = can_fill || is_tight(most[place_of(demands_[at].constraint)]);
            });
            if (can_fill) return false;
        }
        for (const Uses& uses : uses_of(state)) most_[uses.block] += uses.most;
        state.has_room = true;
        ++reserved_;
        return true;
    }

    // Of a pattern that has room.
    void release(PatternId pattern) {
        PatternState& state = patterns_[pattern];
        WEFT_CHECK(std::exchange(state.has_room, false), "no room is kept for the pattern");
        for (const Uses& uses : uses_of(state)) most_[uses.block] -= uses.most;
        --reserved_;
    }
    BytesPerSecond lone_rate(PatternId pattern) const { return {limit_of(patterns_[pattern], 1)}; }
    bool has_crowded_out() const { return !crowded_out_.empty(); }
    // Appends those that have lost their room since the last call.
    void take_crowded_out(std::vector<PatternId>& patterns) {
        patterns.insert(patterns.end(), crowded_out_.begin(), crowded_out_.end());
        crowded_out_.clear();
    }

    // Of one flow on the pattern, as of the last solve; 0 if it has none.
    BytesPerSecond rate(PatternId pattern) const { return {filling_.rate(pattern)}; }

  private:
    struct PatternState {
        std::uint32_t first_demand = 0, demands = 0;
        std::uint32_t first_uses = 0, uses = 0;
        bool has_room = false;  // reserved
        double cap = 0.0;
        // Of its tightest constraint, which limits it even where nothing else does.
        double capacity = std::numeric_limits<double>::infinity(), load = 1.0;
    };
    // A pattern on a constraint: where in demands_.
    struct Crosser {
        std::uint32_t demand = 0;
        PatternId pattern{};
    };
    // The most that a pattern uses of the constraints of a block, in parts of `full`, rounded up. All blocks of a
    // pattern are looked at whenever it comes and goes, so they are small, and constraints 8 b to 8 b + 7 are one block
    // b.
    struct Uses {
        PackedParts most;
        std::uint32_t block = 0;
        std::uint32_t first = 0;   // demand in the block
        std::uint8_t members = 0;  // bit i: one of the demands is on constraint i of the block
    };
    static constexpr std::uint32_t full = 1U << 9U;

    // How patterns and constraints are laid out for solving: which constraints are kept, and what patterns use of them.
    void find_tightest(const std::vector<Constraint>& constraints) {
        for (const Constraint& constraint : constraints) {
            for (const Crossing& crossing : constraint.crossings) {
                PatternState& pattern = patterns_[crossing.pattern];
                if (constraint.capacity.value / crossing.load >= pattern.capacity / pattern.load) continue;
                pattern.capacity = constraint.capacity.value;
                pattern.load = crossing.load;
            }
        }
    }

    bool can_fill(const Constraint& constraint) const {
        double most = 0.0;
        for (const Crossing& crossing : constraint.crossings) {
            const PatternState& pattern = patterns_[crossing.pattern];
            most += crossing.load * (pattern.capacity / pattern.load);
        }
        return most > constraint.capacity.value * (1.0 + 1e-12);
    }

    void lay_out_demands(const std::vector<Constraint>& constraints) {
        std::size_t demands = 0;
        for (const Constraint& constraint : constraints) {
            demands += constraint.crossings.size();
            for (const Crossing& crossing : constraint.crossings) ++patterns_[crossing.pattern].demands;
        }
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

    // A constraint of which all patterns together would use more parts than a counter holds is taken to be tight
    // always.
    void lay_out_uses(const std::vector<Constraint>& constraints) {
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

    // Of each flow on the pattern, whatever others do.
    static double limit_of(const PatternState& pattern, std::uint32_t flows) {
        return std::min(pattern.cap, pattern.capacity / (flows * pattern.load));
    }
    // Takes the room away that the pattern may have.
    void crowd_out(PatternId pattern) {
        if (!patterns_[pattern].has_room) return;
        release(pattern);
        crowded_out_.push_back(pattern);
    }

    // Nobody keeps room on the pattern itself, or on a constraint that can be used up with it.
    void enter(PatternId pattern) {
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

    void leave(PatternId pattern) {
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

    static std::uint32_t block_of(ConstraintId id) { return static_cast<std::uint32_t>(index(id) / PackedParts::size); }
    static std::size_t place_of(ConstraintId id) { return index(id) % PackedParts::size; }
    // Whether the patterns that have flows can use a constraint up.
    static bool is_tight(std::uint32_t most) { return most > full; }
    // Calls `visit` with the demands of a pattern in a block.
    template <class Visit>
    static void for_each_demand(const Uses& uses, Visit visit) {
        const auto end = uses.first + static_cast<std::uint32_t>(std::popcount(uses.members));
        for (std::uint32_t demand = uses.first; demand < end; ++demand) visit(demand);
    }
    std::span<const Uses> uses_of(const PatternState& pattern) const {
        return {uses_.data() + pattern.first_uses, pattern.uses};
    }
    // With flows and without.
    std::span<const Crosser> on(ConstraintId constraint) const {
        const std::uint32_t begin = index(constraint) == 0 ? 0 : row_end_[index(constraint) - 1];
        return std::span(row_).subspan(begin, row_end_[index(constraint)] - begin);
    }

    Table<PatternId, PatternState> patterns_;
    WaterFilling filling_;                      // only tight constraints have patterns in it
    Table<PatternId, std::uint8_t> is_active_;  // has flows
    std::vector<Demand> demands_;               // pattern by pattern
    std::vector<Uses> uses_;                    // pattern by pattern, block by block
    std::vector<PackedParts> most_;             // by block: of each constraint, that patterns with flows use
    std::vector<Crosser> row_;                  // constraint by constraint
    std::vector<std::uint32_t> row_end_;        // of each constraint
    std::size_t reserved_ = 0;                  // patterns that have room
    std::vector<PatternId> crowded_out_;        // and not taken yet
};

}  // namespace weft
