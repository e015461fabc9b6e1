#include "sim/program/compute_times.hpp"

#include "sim/base/hash.hpp"

namespace weft {

double Jitter::factor(RankId rank, std::uint64_t computation) const {
    const std::uint64_t random = hash_of({seed, index(rank), computation});
    const double share = static_cast<double>(random >> 11) * 0x1p-53;  // the 53 bits of a double: 0 to below 1
    return 1.0 + 2.0 * spread * share;
}

ComputeTimes::ComputeTimes(const Program& program) : program_(program) {
    if (program.jitter.spread == 0.0) return;
    numbers_ = Table<OpId, std::uint32_t>(program.ops.size());
    std::uint32_t number = 0;
    for (const RankClass& rank_class : program.classes) {
        for (std::uint32_t op = rank_class.begin_op(); op < rank_class.end_op(); ++op) {
            if (op == rank_class.begin_op() || op == rank_class.first_op) number = 0;
            numbers_[OpId{op}] = number;
            const Op& what = program.ops[OpId{op}];
            if (is_jittered(what)) ++number;
            if (what.kind == OpKind::leave) number = 0;
            if (what.kind != OpKind::routine) continue;
            const Routine& routine = program.routines[RoutineId(what.subject)];
            number += numbers_[OpId{routine.first_op + routine.ops}];
        }
    }
}

}  // namespace weft
