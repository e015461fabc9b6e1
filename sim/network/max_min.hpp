// Max-min fair rates of patterns that are known beforehand.
//
// A pattern never uses more of anything than its tightest constraint lets through, however many flows it carries. A
// constraint that the patterns on it cannot use up so decides nothing: it is left out for good if all patterns
// cannot, and as long as those that have flows cannot. On a large machine that is nearly always so.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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
    MaxMin(const std::vector<Constraint>& constraints, const Table<PatternId, Pattern>& patterns);

    // `flows` on `pattern` from the next solve on; 0 takes it out. Allocates nothing.
    void set_flows(PatternId pattern, std::uint32_t flows);

    // See WaterFilling. Allocates nothing.
    std::span<const PatternId> solve() { return filling_.solve(); }

    // Keeps room for one flow on a pattern that has none: true if, of all constraints on it, the patterns that have
    // flows or room cannot use up any together with it. As long as that is so, the one flow that may come and go has
    // its lone_rate, and nobody else's rate depends on whether it is there. A pattern that comes and would change that
    // takes the room away at once, see take_crowded_out. Allocates nothing.
    bool reserve(PatternId pattern);
    void release(PatternId pattern);  // that has room
    BytesPerSecond lone_rate(PatternId pattern) const;
    bool has_crowded_out() const { return !crowded_out_.empty(); }
    // Appends those that have lost their room since the last call.
    void take_crowded_out(std::vector<PatternId>& patterns);

    // Of one flow on the pattern, as of the last solve; 0 if it has none.
    BytesPerSecond rate(PatternId pattern) const { return {filling_.rate(pattern)}; }

  private:
    struct PatternState {
        std::uint32_t first_demand = 0, demands = 0;
        std::uint32_t first_uses = 0, uses = 0;
        bool has_room = false;  // reserved
        double cap = 0.0;
        // Of its tightest constraint, which limits it even where nothing else does.
        double capacity = 0.0, load = 0.0;
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

    void find_tightest(const std::vector<Constraint>& constraints);
    bool can_fill(const Constraint& constraint) const;
    void lay_out_demands(const std::vector<Constraint>& constraints);
    void lay_out_uses(const std::vector<Constraint>& constraints);
    // Of each flow on the pattern, whatever others do.
    static double limit_of(const PatternState& pattern, std::uint32_t flows) {
        return std::min(pattern.cap, pattern.capacity / (flows * pattern.load));
    }
    void crowd_out(PatternId pattern);
    void enter(PatternId pattern);
    void leave(PatternId pattern);
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
