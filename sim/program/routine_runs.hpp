// How often the routines of a program run.
#pragma once

#include <cstdint>

#include "sim/base/table.hpp"
#include "sim/program/program.hpp"

namespace weft {

inline Table<RoutineId, std::uint32_t> routine_runs(const Program& program) {
    Table<RoutineId, std::uint32_t> runs(program.routines.size(), 0);
    if (program.routines.empty()) return runs;
    for (const Op& op : program.ops) {
        if (op.kind == OpKind::routine) ++runs[RoutineId(op.subject)];
    }
    return runs;
}

// Calls see(OpId, times) for the ops of all classes and of their routines but for those that leave: how often each
// runs.
template <class See>
void for_each_run(const Program& program, See see) {
    for (const RankClass& rank_class : program.classes) {
        for (std::uint32_t op = rank_class.first_op; op < rank_class.end_op(); ++op) see(OpId{op}, 1U);
    }
    const Table<RoutineId, std::uint32_t> runs = routine_runs(program);
    for (RoutineId id{}; id != runs.end_id(); id = next(id)) {
        const Routine& routine = program.routines[id];
        for (std::uint32_t op = routine.first_op; op < routine.first_op + routine.ops; ++op) see(OpId{op}, runs[id]);
    }
}

}  // namespace weft
