// When the ops of routines begin and are over, counted from the begin of the routine, as long as what is beside them
// stays as it is: known once for all runs of a routine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/engine/work_progress.hpp"
#include "sim/program/program.hpp"

namespace weft {

class Chains;
class ChainLinks;

class RoutineTimes {
  public:
    RoutineTimes() = default;
    // The arguments are needed only here.
    RoutineTimes(const Program& program, const Chains& chains, const ChainLinks& links);

    // Of op i of a routine, counted from its first, in ticks; at most the end of the clock. What follows the last op
    // begins when it is over.
    std::int64_t begin(RoutineId routine, std::uint32_t i, Disturbance beside) const {
        return at(routine, i, beside).begin;
    }
    std::int64_t over(RoutineId routine, std::uint32_t i, Disturbance beside) const {
        return at(routine, i, beside).over;
    }
    // Whether op i is the second of its link.
    bool is_second(RoutineId routine, std::uint32_t i) const { return is_second_[slot(routine) + i]; }
    // The last of the links at `first` and after, up to op `end`, that begins by then.
    std::uint32_t last_begun(RoutineId routine, std::uint32_t first, std::uint32_t end, std::int64_t by,
                             Disturbance beside) const;
    // Where what is kept for each op of a routine begins, among those of all.
    std::size_t slot(RoutineId routine) const { return first_slot_[routine]; }
    std::size_t slots() const { return is_second_.size(); }

  private:
    struct Stay {
        std::int64_t begin, over;
    };
    void add(const Routine& routine, const Chains& chains, const ChainLinks& links, Disturbance beside);
    const Stay& at(RoutineId routine, std::uint32_t i, Disturbance beside) const {
        return stays_[static_cast<std::size_t>(beside)][slot(routine) + i];
    }

    Table<RoutineId, std::size_t> first_slot_;
    std::array<std::vector<Stay>, 2> stays_;  // by disturbance
    std::vector<bool> is_second_;
};

}  // namespace weft
