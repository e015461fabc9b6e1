// When each operation of each rank class happened. The raw result of a run; reports are computed from it.
//
// A routine of the program runs many times, so its ops have no spans of their own: what happened is kept in parts, in
// each of which one op begins when the one before is over, and nothing changes beside them. sim/engine/unfold.hpp makes
// spans of them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/routine_parts.hpp"
#include "sim/engine/routine_times.hpp"
#include "sim/network/utilization.hpp"
#include "sim/program/program.hpp"

namespace weft {

// posted: all it waits for is done. begin: it really starts (an exchange: its last member arrived). end: over.
struct Span {
    Instant posted, begin, end;
};

struct Timeline {
    Table<OpId, Span> spans;  // of ops of the program's routines nothing that is of use
    // As they happened, run by run; empty where the program has no routines.
    Table<RankClassId, RoutineParts> parts;
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
        routine_times.visit(part.first, part.end(), part.begin, part.beside,
                            [&visit](OpId op, Instant from, Instant to) {
                                visit(op, Span{from, from, to});
                            });
    }
};

}  // namespace weft
