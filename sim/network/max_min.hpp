// Max-min fair rates of patterns under constraints, by progressive filling: all rates rise together; a pattern stops
// rising when a constraint it crosses is used up, or at its cap (Bertsekas & Gallager, Data Networks, section 6.5.2).
// All flows on one pattern have the same rate, so patterns are solved, weighted by how many flows they carry.
//
// A pattern never uses more of anything than its tightest constraint lets through, however many flows it carries. A
// constraint that the patterns on it cannot use up in that way decides nothing: it is left out for good if all patterns
// cannot, and as long as those that have flows cannot. On a large machine that is nearly always so.
//
// Only what changed is solved again: the patterns connected to it by shared constraints. The rates of a component are
// a function of the component alone, bit for bit, whatever happened before. Most components of a folded step are one
// pattern (98 % in frontier-gpt-1t-3d.json), which has the rate that its own limit allows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/network/constraints.hpp"
#include "sim/network/network_model.hpp"
#include "sim/network/packed_parts.hpp"

namespace weft {

class MaxMin {
  public:
    MaxMin(const std::vector<Constraint>& constraints, const Table<PatternId, Pattern>& patterns);

    // `flows` on `pattern` from the next solve on; 0 takes it out. Allocates nothing.
    void set_flows(PatternId pattern, std::uint32_t flows);

    // Brings all rates up to date. Returns the patterns whose rates were worked out anew, good until the next call.
    // LogicError if nothing limits a pattern with flows. Allocates nothing.
    std::span<const PatternId> solve();

    // Keeps room for one flow on a pattern that has none: true if, of all constraints on it, the patterns that have
    // flows or room cannot use up any together with it. As long as that is so, the one flow that may come and go has
    // its lone_rate, and nobody else's rate depends on whether it is there. A pattern that comes and would change that
    // takes the room away at once, see take_crowded_out. Allocates nothing.
    bool reserve(PatternId pattern);
    void release(PatternId pattern);  // that has room
    BytesPerSecond lone_rate(PatternId pattern) const;
    // Appends those that have lost their room since the last call.
    void take_crowded_out(std::vector<PatternId>& patterns);

    // Of one flow on the pattern, as of the last solve; 0 if it has none.
    BytesPerSecond rate(PatternId pattern) const { return {patterns_[pattern].rate}; }

  private:
    struct PatternState {
        std::uint32_t first_demand = 0, demands = 0;
        std::uint32_t first_uses = 0, uses = 0;
        std::uint32_t flows = 0;
        bool has_room = false;      // reserved
        std::uint32_t tight = 0;    // of its demands those on constraints that are tight
        std::uint32_t changed = 0;  // the round whose solve has to look at it
        std::uint32_t visited = 0;  // the round in which its component was collected
        std::uint32_t frozen = 0;   // the round in which its rate was found
        double rate = 0.0;
        double cap = 0.0;
        // Of its tightest constraint, which limits it even where nothing else does.
        double capacity = 0.0, load = 0.0;
    };
    struct ConstraintState {
        std::uint32_t visited = 0;
        std::uint32_t rising = 0;  // patterns on it that are not frozen
        double capacity = 0.0;
        double residual = 0.0;  // capacity less what frozen patterns use
        double demand = 0.0;    // sum of flows * load of the rising ones
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
    // Levels this close are one level. Rounding may part constraints that are used up together by symmetry; flows that
    // ought to have equal rates shall have equal bits, or their ends would fall on different instants.
    static constexpr double same_level = 1e-12;
    // A level at which something stops rising: constraint `what`, or past the last one, a pattern's own limit.
    struct Limit {
        double level = 0.0;
        std::uint32_t what = 0;
    };

    // Demands of a pattern with flows, on constraints that are tight.
    std::span<const std::uint32_t> tight(const PatternState& pattern) const {
        return {tight_.data() + pattern.first_demand, pattern.tight};
    }
    void find_tightest(const std::vector<Constraint>& constraints);
    bool can_fill(const Constraint& constraint) const;
    void lay_out_demands(const std::vector<Constraint>& constraints);
    // Of each flow on the pattern, whatever others do.
    static double limit_of(const PatternState& pattern, std::uint32_t flows) {
        return std::min(pattern.cap, pattern.capacity / (flows * pattern.load));
    }
    static double limit_of(const PatternState& pattern) { return limit_of(pattern, pattern.flows); }
    void crowd_out(PatternId pattern);
    void enter(PatternId pattern);
    void leave(PatternId pattern);
    void solve_around(PatternId seed);
    void lay_out_uses();
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
    template <class Visit>
    void for_each_demand_on(ConstraintId constraint, Visit visit) {
        const std::uint32_t begin = index(constraint) == 0 ? 0 : row_end_[index(constraint) - 1];
        for (std::uint32_t i = begin; i < row_end_[index(constraint)]; ++i) visit(row_[i]);
    }
    // Calls `visit` with the demands on a constraint of all patterns that have flows.
    template <class Visit>
    void for_each_active(ConstraintId constraint, Visit visit) {
        for_each_demand_on(constraint, [&](std::uint32_t demand) {
            if (patterns_[demander_[demand]].flows > 0) visit(demand);
        });
    }
    void add_tight(std::uint32_t demand);
    void remove_tight(std::uint32_t demand);
    void reach(PatternId pattern);
    void sum_demands(std::span<const PatternId> component);
    void gather_limits(std::span<const PatternId> component);
    void fill(std::span<const PatternId> component);
    bool has_moved_up(Limit& limit) const;
    void choose_stopped(const Limit& limit);
    void freeze(PatternId pattern, double level);

    static constexpr auto lower = [](const Limit& a, const Limit& b) {
        return a.level != b.level ? a.level < b.level : a.what < b.what;
    };

    Table<PatternId, PatternState> patterns_;
    Table<ConstraintId, ConstraintState> constraints_;
    std::vector<Demand> demands_;             // pattern by pattern
    std::vector<PatternId> demander_;         // whose each of demands_ is
    std::vector<Uses> uses_;                  // pattern by pattern, block by block
    std::vector<std::uint32_t> tight_;        // pattern by pattern, in the places of its demands: the tight ones
    std::vector<std::uint32_t> tight_place_;  // of each of demands_ that is tight, in tight_
    std::vector<PackedParts> most_;           // by block: of each constraint, that patterns with flows use
    Table<ConstraintId, std::uint32_t> loosened_in_;  // the round before which a pattern left it while it was tight
    std::vector<std::uint32_t> row_;                  // demands, constraint by constraint
    std::vector<std::uint32_t> row_end_;              // of each constraint
    std::size_t reserved_ = 0;                        // patterns that have room
    std::vector<PatternId> crowded_out_;              // and not taken yet
    std::vector<PatternId> changed_;                  // since the last solve
    std::vector<ConstraintId> loosened_;              // since the last solve: those on them may rise
    std::uint32_t round_ = 1;                         // of the next solve
    std::vector<PatternId> solved_;                   // result of a solve, component by component
    std::vector<ConstraintId> crossed_;               // constraints of the component at hand
    std::vector<Limit> limits_;                       // heap of the component at hand
    std::vector<PatternId> stopped_;                  // by the limit at hand
};

}  // namespace weft
