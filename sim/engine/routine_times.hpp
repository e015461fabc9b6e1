// Routines here are stretches of a program in which a rank class meets nobody: computations and exchanges of its own
// groups, each after the one before. Of large programs that is nearly everything. Those in what the program calls a
// routine run many times, unless its computations take other times whenever they run; the others run once.
//
// A routine is a row of segments, which are ops that follow one another in the program. A segment is one op, or an
// exchange and a computation side by side; its ops wait for those of the segment before and for nothing else, and
// nothing else waits for those. So, as long as nobody interferes, all times of a routine are known before it begins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/work_progress.hpp"
#include "sim/program/compute_times.hpp"
#include "sim/program/program.hpp"

namespace weft {

class RoutineTimes {
  public:
    static constexpr std::uint32_t fewest_ops = 3;  // of a routine: fewer are not worth looking ahead for

    RoutineTimes() = default;
    // The arguments are needed only here. `transfers`: how many ticks an exchange of one party takes that shares
    // nothing.
    RoutineTimes(const Program& program, const Table<CommunicationId, std::int64_t>& transfers);

    std::size_t ops() const { return ends_.size(); }
    // The op past the routine that the segment at `op` belongs to, whose last segment is one op; 0 where there is none.
    std::uint32_t end(std::uint32_t op) const { return ends_[op]; }
    // How many ops the segment that begins with `op` has.
    std::uint32_t ops_of_segment(std::uint32_t op) const { return is_pair_[op] ? 2 : 1; }

    // When an op begins and is over, in ticks since its routine began, as long as what is beside it stays as it is; at
    // most the end of the clock.
    std::int64_t begin(std::uint32_t op, Disturbance beside) const { return stay(op, beside).begin; }
    std::int64_t over(std::uint32_t op, Disturbance beside) const { return stay(op, beside).over; }
    // Calls visit(OpId, begin, end) for the ops from one segment of a routine, which begins at `at`, up to another.
    template <class Visit>
    void visit(std::uint32_t first, std::uint32_t end, Instant at, Disturbance beside, Visit visit) const {
        const std::int64_t start = at.femtoseconds - begin(first, beside);
        for (std::uint32_t op = first; op < end; ++op) {
            visit(OpId{op}, Instant{start + begin(op, beside)}, Instant{start + over(op, beside)});
        }
    }
    // The last segment of those from `first` up to `end`, in one routine, that begins by then.
    std::uint32_t last_begun(std::uint32_t first, std::uint32_t end, std::int64_t by, Disturbance beside) const;

  private:
    struct Stay {
        std::int64_t begin = 0, over = 0;
    };
    std::uint32_t find(const Program& program, std::uint32_t first, std::uint32_t end);
    void add_times(const Program& program, const ComputeTimes& works,
                   const Table<CommunicationId, std::int64_t>& transfers, Disturbance beside);
    const Stay& stay(std::uint32_t op, Disturbance beside) const { return stays_[index_of(beside)][places_[op]]; }
    static std::size_t index_of(Disturbance beside) { return static_cast<std::size_t>(beside); }

    std::vector<std::uint32_t> ends_;         // by op
    std::vector<std::uint32_t> places_;       // in stays_, by op; only ops of routines have one
    std::uint32_t timed_ = 0;                 // ops that have
    std::array<std::vector<Stay>, 2> stays_;  // by disturbance, as far as the program knows it, and place
    std::vector<bool> is_pair_;               // by op: whether it begins a segment of two
};

}  // namespace weft
