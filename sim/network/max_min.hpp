// Max-min fair rates of patterns under constraints, by progressive filling: all rates rise together; a pattern stops
// rising when a constraint it crosses is used up, or at its cap (Bertsekas & Gallager, Data Networks, section 6.5.2).
// All flows on one pattern have the same rate, so patterns are solved, weighted by how many flows they carry.
//
// Only what changed is solved again: the patterns connected to it by shared constraints. The rates of a component are
// a function of the component alone, bit for bit, whatever happened before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/network/constraints.hpp"
#include "sim/network/network_model.hpp"

namespace weft {

class MaxMin {
  public:
    MaxMin(const std::vector<Constraint>& constraints, const Table<PatternId, Pattern>& patterns);

    // `flows` on `pattern` from the next solve on; 0 takes it out. Allocates nothing.
    void set_flows(PatternId pattern, std::uint32_t flows);

    // Brings all rates up to date. Returns the patterns whose rates were worked out anew, good until the next call.
    // LogicError if nothing limits a pattern with flows. Allocates nothing.
    std::span<const PatternId> solve();

    // Of one flow on the pattern, as of the last solve; 0 if it has none.
    BytesPerSecond rate(PatternId pattern) const { return {patterns_[pattern].rate}; }

  private:
    struct PatternState {
        std::uint32_t first_demand = 0, demands = 0;
        std::uint32_t flows = 0;
        std::uint32_t changed = 0;  // the round whose solve has to look at it
        std::uint32_t visited = 0;  // the round in which its component was collected
        std::uint32_t frozen = 0;   // the round in which its rate was found
        double rate = 0.0;
        double cap = 0.0;
    };
    // Its row holds the demands on it; those of patterns with flows lead.
    struct ConstraintState {
        std::uint32_t first = 0, active = 0;
        std::uint32_t visited = 0;
        std::uint32_t rising = 0;  // patterns on it that are not frozen
        double capacity = 0.0;
        double residual = 0.0;  // capacity less what frozen patterns use
        double demand = 0.0;    // sum of flows * load of the rising ones
    };
    // A level at which something stops rising: constraint `what`, or past the last one, the cap of a pattern.
    struct Limit {
        double level = 0.0;
        std::uint32_t what = 0;
    };

    std::span<const Demand> demands(const PatternState& pattern) const {
        return {demands_.data() + pattern.first_demand, pattern.demands};
    }
    std::span<const std::uint32_t> active(const ConstraintState& constraint) const {
        return {row_.data() + constraint.first, constraint.active};
    }
    void lay_out_demands(const std::vector<Constraint>& constraints);
    void lay_out_rows();
    void enter(PatternId pattern);
    void leave(PatternId pattern);
    void swap_places(std::uint32_t a, std::uint32_t b);
    void solve_around(PatternId seed);
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
    std::vector<Demand> demands_;        // pattern by pattern
    std::vector<PatternId> demander_;    // whose each of demands_ is
    std::vector<std::uint32_t> row_;     // constraint by constraint: which of demands_ are on it
    std::vector<std::uint32_t> place_;   // where in row_ each of demands_ is
    std::vector<PatternId> changed_;     // since the last solve
    std::uint32_t round_ = 1;            // of the next solve
    std::vector<PatternId> solved_;      // result of a solve, component by component
    std::vector<ConstraintId> crossed_;  // constraints of the component at hand
    std::vector<Limit> limits_;          // heap of the component at hand
    std::vector<PatternId> stopped_;     // by the limit at hand
};

}  // namespace weft
