// When each operation of each rank class happened. The raw result of a run; reports are computed from it.
//
// A routine of the program runs many times, so its ops have no spans of their own: what happened is kept in parts, in
// each of which one op begins when the one before is over, and nothing changes beside them. sim/engine/unfold.hpp makes
// spans of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/routine_times.hpp"
#include "sim/network/utilization.hpp"
#include "sim/program/program.hpp"

namespace weft {

// posted: all it waits for is done. begin: it really starts (an exchange: its last member arrived). end: over.
struct Span {
    Instant posted, begin, end;
};

// Of one run of a routine: one op, or links from op `first` to `end` that went as RoutineTimes says.
struct RoutinePart {
    std::uint32_t first = 0;
    std::uint32_t ops : 31 = 0;
    std::uint32_t is_disturbed : 1 = 0;
    Instant posted, begin, over;  // posted: of one op

    RoutinePart(OpId first_op, std::uint32_t number, Disturbance beside, const Span& span)
        : first(static_cast<std::uint32_t>(first_op)),
          ops(number & 0x7fffffffU),
          is_disturbed(beside == Disturbance::transfer ? 1U : 0U),
          posted(span.posted),
          begin(span.begin),
          over(span.end) {}

    std::uint32_t end() const { return first + ops; }
    bool is_one_op() const { return ops == 1; }
    Disturbance beside() const { return is_disturbed != 0 ? Disturbance::transfer : Disturbance::none; }
};
static_assert(sizeof(RoutinePart) == 32);

struct Timeline {
    Table<OpId, Span> spans;  // of ops of the program's routines nothing that is of use
    // As they happened, run by run; empty where the program has no routines.
    Table<RankClassId, std::vector<RoutinePart>> parts;
    RoutineTimes routine_times;
    Instant end;                             // of the last op
    std::uint64_t events = 0;                // handled by the engine
    std::uint64_t solves = 0;                // of the network
    Table<LinkClassId, double> utilization;  // bytes carried / (bandwidth x step), mean over the links of the class
    Table<LinkClassId, double> peak_utilization;  // the same for the busiest link of the class
    Table<PatternId, Bytes> moved;                // by flows on each pattern; empty where there is no network
    std::vector<UtilizationSample> samples;       // utilization over time, if Recording::spans_and_links

    // Calls visit(OpId, Span) for the ops of a part.
    template <class Visit>
    void visit(const RoutinePart& part, Visit visit) const {
        if (part.is_one_op()) return visit(OpId{part.first}, Span{part.posted, part.begin, part.over});
        routine_times.visit(part.first, part.end(), part.begin, part.beside(),
                            [&visit](OpId op, Instant from, Instant to) {
                                visit(op, Span{from, from, to});
                            });
    }
};

// Takes the parts of the next run of a class, which is of this routine, from those that are left of the class.
inline std::span<const RoutinePart> take_run(const Routine& routine, std::span<const RoutinePart>& left) {
    std::size_t parts = 0;
    while (left[parts++].end() != routine.first_op + routine.ops) {
    }
    const std::span<const RoutinePart> run = left.first(parts);
    left = left.subspan(parts);
    return run;
}

}  // namespace weft
