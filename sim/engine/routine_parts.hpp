// What happened of the routines of a rank class, in the order in which it happened.
//
// A routine of the program runs many times, and where computations take other times whenever they run, each of its ops
// has times of its own. So a part is stored as the few bytes by which it differs from what is likeliest: that it begins
// where, and when, the one before was over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/engine/work_progress.hpp"
#include "sim/program/program.hpp"

namespace weft {

// Of one run of a routine: one op, or links from op `first` to `end` that went as RoutineTimes says.
struct RoutinePart {
    std::uint32_t first = 0;
    std::uint32_t ops = 0;
    Disturbance beside = Disturbance::none;
    Instant posted, begin, over;  // of more than one op, posted is begin

    std::uint32_t end() const { return first + ops; }
    bool is_one_op() const { return ops == 1; }
};

class RoutineParts {
  public:
    // A part of one op takes nine where it begins as the one before ends, eight of them for how long it took; more
    // where something went on beside it.
    static constexpr std::size_t usual_bytes = 16;
    // So many parts are added without an allocation, unless they take more than usual.
    void reserve(std::size_t parts) { bytes_.reserve(parts * usual_bytes); }
    void add(const RoutinePart& part);
    // The one added last, or an empty one.
    const RoutinePart& last() const { return last_; }
    void add_before_last(const RoutinePart& part);

    class Reader {
      public:
        // `parts` must outlive this and not change.
        explicit Reader(const RoutineParts& parts)
            : at_(parts.bytes_.data()), end_(at_ + parts.bytes_.size()), last_(&parts.last_) {}
        RoutinePart next();
        // Calls visit(RoutinePart) for those of the next run of the class, which is of this routine.
        template <class Visit>
        void visit_run(const Routine& routine, Visit visit) {
            for (;;) {
                const RoutinePart part = next();
                visit(part);
                if (part.end() == routine.first_op + routine.ops) return;
            }
        }

      private:
        const std::uint8_t* at_;
        const std::uint8_t* end_;
        const RoutinePart* last_;  // none once it was read
        RoutinePart before_;
    };

  private:
    void store(const RoutinePart& part);

    std::vector<std::uint8_t> bytes_;  // of all but the last
    RoutinePart stored_, last_;        // the last one of these, and the last one
};

}  // namespace weft
