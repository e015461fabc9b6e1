// The links of a part of a routine's run: the first, which may have had something else beside it before, and the
// others, for which RoutineTimes tells how they follow one another.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/engine/routine_times.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/program/program.hpp"

namespace weft {

class PartLinks {
  public:
    // `times` must outlive this.
    PartLinks(const Program& program, const RoutineTimes& times, const RoutinePart& part)
        : times_(times), part_(part), routine_(RoutineId{program.ops[part.caller].subject}) {
        first_op_ = program.routines[routine_].first_op;
        second_ = part.first + 1;
        if (second_ == part.end) return;  // all there is where nothing runs ahead, and no times are known
        const bool is_pair = times.is_second(routine_, second_);
        second_ = part.first + (is_pair ? 2 : 1);
        const Instant over = is_pair ? std::max(part.first_over, part.second_over) : part.first_over;
        start_ = over.femtoseconds - times.begin(routine_, second_, part.beside);
    }

    RoutineId routine() const { return routine_; }
    // The first op of the second link, or the end of the part.
    std::uint32_t second() const { return second_; }
    // Of an op after the first link; what follows the part begins where it ends.
    Instant begin(std::uint32_t i) const { return {start_ + times_.begin(routine_, i, part_.beside)}; }
    // After the first link: the link that is under way, or the one that begins then or next.
    std::uint32_t last_begun(Instant by) const {
        const std::int64_t ticks = std::max(by, begin(second_)).femtoseconds - start_;
        return times_.last_begun(routine_, second_, part_.end, ticks, part_.beside);
    }
    std::uint32_t first_after(Instant at) const {
        const std::uint32_t last = last_begun(at);
        if (begin(last) >= at || last == part_.end) return last;
        return last + 1 < part_.end && times_.is_second(routine_, last + 1) ? last + 2 : last + 1;
    }

    // Calls visit(OpId, begin, end) for each op of the first link; or of those from one op to another after it.
    template <class Visit>
    void visit_first(Visit visit) const {
        visit(OpId{first_op_ + part_.first}, part_.begin, part_.first_over);
        if (second_ == part_.first + 2) visit(OpId{first_op_ + part_.first + 1}, part_.begin, part_.second_over);
    }
    template <class Visit>
    void visit(std::uint32_t from, std::uint32_t to, Visit visit) const {
        for (std::uint32_t i = from; i < to; ++i) {
            visit(OpId{first_op_ + i}, begin(i), Instant{start_ + times_.over(routine_, i, part_.beside)});
        }
    }

  private:
    const RoutineTimes& times_;
    RoutinePart part_;
    RoutineId routine_;
    std::uint32_t first_op_ = 0, second_ = 0;
    std::int64_t start_ = 0;  // of the routine, if all of it had gone as these links do
};

// Calls visit(OpId, begin, end) for each op of the run of a routine that `caller` stands for, in order.
template <class Visit>
void for_each_routine_op(const Program& program, const Timeline& timeline, OpId caller, Visit visit) {
    for (const RoutinePart& part : timeline.parts_of(caller)) {
        const PartLinks links(program, timeline.routine_times, part);
        links.visit_first(visit);
        links.visit(links.second(), part.end, visit);
    }
}

}  // namespace weft
