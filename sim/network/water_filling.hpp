// Max-min fair rates: all rates rise together, as water does; a pattern stops rising when a constraint it crosses is
// used up, or at its own limit (Bertsekas & Gallager, Data Networks, section 6.5.2). All flows on one pattern have the
// same rate, so patterns are solved, weighted by how many flows they carry.
//
// A solve costs as much as changes. The water rises again, but only constraints that were used up and lose or gain
// something are watched, from the level on at which they do (the bottleneck structure: Ros-Giralt et al., "On the
// bottleneck structure of congestion-controlled networks", 2019); all other rates are taken to stay as they are. A
// constraint that is used up only then is watched in another pass.
//
// Rates are a function of the flows under way, bit for bit, whatever happened before: what patterns use of constraints
// is added up in integers, so that no order of summing leaves a trace, and n flows on one pattern count as n patterns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/network/constraints.hpp"

namespace weft {

class WaterFilling {
  public:
    // Room for what is added next.
    void reserve(std::size_t constraints, std::size_t patterns, std::size_t demands);
    // Loads that are not much smaller than `least` count exactly, if `most` is not a thousand times as much. Room for
    // `patterns` on it at a time; more are served, but only then is memory allocated.
    ConstraintId add_constraint(BytesPerSecond capacity, double least, double most, std::uint32_t patterns);
    // Room for as many demands, likewise.
    PatternId add_pattern(std::uint32_t demands);

    // From the next solve on, none of which goes faster than `limit` > 0, which no constraint would refuse to the
    // pattern alone. Without flows it must not be on any constraint.
    void set_flows(PatternId pattern, std::uint32_t flows, double limit);
    // The same for one flow, or none, on a pattern that is on no constraint: it has its rate at once.
    void set_alone(PatternId pattern, std::uint32_t flows, double limit);
    // A pattern with flows uses `load` bytes of the constraint per byte of each flow. Patterns may be left off a
    // constraint as long as all of them together cannot use it up.
    void attach(PatternId pattern, ConstraintId constraint, double load);
    void detach_all(PatternId pattern);
    void detach_all(ConstraintId constraint);
    // Changes no result: the constraint will be used up by what has been attached since the last solve, more often than
    // not.
    void expect_full(ConstraintId constraint);

    // Brings all rates up to date. Returns the patterns with flows whose rates have changed, or their flows, good until
    // the next call. LogicError if nothing limits a pattern with flows.
    std::span<const PatternId> solve();

    bool is_on_any(PatternId pattern) const { return patterns_[pattern].demands > 0; }
    std::uint32_t flows(PatternId pattern) const { return patterns_[pattern].flows; }
    // Of one flow, as of the last solve or set_alone; 0 if there is none.
    double rate(PatternId pattern) const { return patterns_[pattern].rate; }
    // What a pattern on a constraint, known to be the only one, is.
    PatternId only_one_on(ConstraintId constraint) const { return members_[constraints_[constraint].first].pattern; }

  private:
    __extension__ using Exact = __int128;  // sums of integers that do not round
    static constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();

    struct PatternState {
        std::uint32_t first = 0, demands = 0, room = 0;  // in demands_
        std::uint32_t flows = 0;
        bool is_changed = false;             // listed in changed_
        std::uint32_t rising = 0;            // the pass in which it goes past the rate that it had
        std::uint32_t found = 0;             // the pass in which its rate was found
        std::uint32_t solved = 0;            // the last solve that lists it in solved_
        std::uint32_t bottleneck = nothing;  // the constraint that stops it, if it is not its own limit
        double rate = 0.0;
        double limit = 0.0;
    };
    struct Demand {
        double load = 1.0;      // in units of the constraint per byte per second
        std::int64_t used = 0;  // by all flows of the pattern at their rate, in units
        ConstraintId constraint{};
        std::uint32_t stopped = 0;  // the pass in which the constraint counts it as stopped
        std::uint32_t place = 0;    // in members_
    };
    // A pattern on a constraint.
    struct Member {
        std::uint32_t demand = 0;
        PatternId pattern{};
    };
    struct Pending {                                                   // patterns on a constraint that are not stopped
        double lowest_stop = std::numeric_limits<double>::infinity();  // or lower
        bool any_rising = false;                                       // or none any more
    };
    // What is read and written of every constraint of a pattern that moves comes first, on one cache line.
    struct alignas(64) ConstraintState {
        Exact used = 0;             // in units, as the next
        std::int64_t brim = 0;      // it is used up, or so nearly that rounding may decide, by more than this
        std::uint32_t watched = 0;  // the last pass that watches it
        bool is_full = false;       // used up as of the last pass
        bool is_dirty = false;      // listed in dirty_
        bool is_settled = false;    // in the pass that watches it
        bool has_let_go = false;    // of the patterns that it stopped before, likewise
        std::uint32_t first = 0, patterns = 0;                   // in members_
        double level = std::numeric_limits<double>::infinity();  // at which it stops patterns, as of the last pass
        // Of the pass that watches it.
        Exact demand = 0;           // sum of the weights of the pending patterns, in parts
        std::int64_t residual = 0;  // capacity less what stopped patterns use, in units
        double highest = 0.0;       // rate of the stopped patterns on it
        double key = 0.0;           // of its entry on the heap
        Pending pending;
        std::int64_t capacity = 0;  // in units
        double units = 1.0;         // per byte per second, a power of two
        double scale = 1.0;         // parts of a load per unit, likewise
        std::uint32_t room = 0;     // in members_
    };
    // Levels this close are one level. Rounding may part constraints that are used up together by symmetry; flows that
    // ought to have equal rates shall have equal bits, or their ends would fall on different instants.
    static constexpr double same_level = 1e-12;
    static constexpr double near_level = 4e-12;
    // When a constraint is looked at: as soon as it may be used up, or because patterns on it stop just before.
    enum class Look : std::uint32_t { full, before };
    struct Limit {
        double level = 0.0;
        Look look = Look::full;
        ConstraintId what{};
    };
    std::span<Demand> demands(const PatternState& pattern) {
        return {demands_.data() + pattern.first, pattern.demands};
    }
    std::span<const Member> on(const ConstraintState& constraint) const {
        return {members_.data() + constraint.first, constraint.patterns};
    }
    // What a pattern uses of a constraint at a rate: as many times as it has flows what one uses.
    static std::int64_t units(const PatternState& pattern, const Demand& demand, double rate) {
        return pattern.flows * static_cast<std::int64_t>(demand.load * rate + 0.5);
    }
    // In parts, of all flows of a pattern.
    static Exact weight(const PatternState& pattern, const Demand& demand, const ConstraintState& constraint) {
        return Exact{pattern.flows} * static_cast<std::int64_t>(demand.load * constraint.scale);
    }
    static bool is_used_up(const ConstraintState& constraint) { return constraint.used > constraint.brim; }
    bool is_watched(const ConstraintState& constraint) const { return constraint.watched == pass_; }
    bool is_rising(const PatternState& pattern) const { return pattern.rising == pass_; }
    // Where it stops unless a constraint stops it first.
    double stop_of(const PatternState& pattern) const { return is_rising(pattern) ? pattern.limit : pattern.rate; }

    void add_pending(ConstraintState& constraint, const PatternState& pattern);
    void change(PatternId pattern);
    void mark_dirty(ConstraintId constraint);
    void detach_from_constraint(const Demand& demand);

    static bool is_at_highest(const ConstraintState& constraint);
    static double level_of(const ConstraintState& constraint);
    void begin_pass();
    void watch_dirty();
    bool fill();
    void raise(PatternId pattern, double now);
    void watch(ConstraintId constraint, double now);
    void count_as_stopped(ConstraintState& constraint, Demand& demand, const PatternState& pattern);
    void queue(ConstraintId constraint, double level, Look look);
    void look_at(ConstraintId constraint);
    void handle(const Limit& limit);
    void stop_below(ConstraintId constraint, const Limit& limit);
    void let_go(ConstraintId constraint, double now);
    void stop_all(ConstraintId constraint, double level);
    void stop(PatternId pattern, double level, std::uint32_t bottleneck);

    static constexpr auto lower = [](const Limit& a, const Limit& b) {
        if (a.level != b.level) return a.level < b.level;
        return a.look != b.look ? a.look < b.look : a.what < b.what;
    };

    Table<PatternId, PatternState> patterns_;
    Table<ConstraintId, ConstraintState> constraints_;
    std::vector<Demand> demands_;      // of each pattern side by side; where room ran out there are gaps
    std::vector<Member> members_;      // of each constraint, likewise
    std::vector<PatternId> changed_;   // since the last solve
    std::vector<ConstraintId> dirty_;  // used up before, and patterns came or went since; or used up now, and unwatched
    std::uint32_t solve_ = 0;
    std::vector<PatternId> solved_;  // result of a solve
    std::uint32_t pass_ = 0;
    std::vector<PatternId> rising_;      // of this pass
    std::vector<ConstraintId> watched_;  // of this pass
    std::vector<Limit> limits_;          // heap
};

}  // namespace weft
