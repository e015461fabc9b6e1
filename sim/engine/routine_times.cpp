#include "sim/engine/routine_times.hpp"

#include <algorithm>

#include "sim/engine/chain_links.hpp"
#include "sim/engine/chains.hpp"

namespace weft {

RoutineTimes::RoutineTimes(const Program& program, const Chains& chains, const ChainLinks& links) {
    for (const Routine& routine : program.routines) {
        first_slot_.push_back(is_second_.size());
        for (const Disturbance beside : {Disturbance::none, Disturbance::transfer}) add(routine, chains, links, beside);
        for (std::uint32_t op = routine.first_op; op < routine.first_op + routine.ops; op += chains.ops(op)) {
            is_second_.push_back(false);
            if (chains.ops(op) == 2) is_second_.push_back(true);
        }
        is_second_.push_back(false);
    }
}

void RoutineTimes::add(const Routine& routine, const Chains& chains, const ChainLinks& links, Disturbance beside) {
    std::vector<Stay>& stays = stays_[static_cast<std::size_t>(beside)];
    Instant at;
    for (std::uint32_t op = routine.first_op; op < routine.first_op + routine.ops; op += chains.ops(op)) {
        const ChainLink link = links.at(op, at, {.since = at}, beside);
        if (link.ops == 2) stays.push_back({at.femtoseconds, link.exchange_over.femtoseconds});
        const Instant over = link.ops == 2 ? link.computation_over : link.over();
        stays.push_back({at.femtoseconds, over.femtoseconds});
        at = link.over();
    }
    stays.push_back({at.femtoseconds, at.femtoseconds});
}

std::uint32_t RoutineTimes::last_begun(RoutineId routine, std::uint32_t first, std::uint32_t end, std::int64_t by,
                                       Disturbance beside) const {
    const auto stays = stays_[static_cast<std::size_t>(beside)].begin() + static_cast<std::ptrdiff_t>(slot(routine));
    const auto past = std::upper_bound(stays + first, stays + end + 1, by,
                                       [](std::int64_t ticks, const Stay& stay) { return ticks < stay.begin; });
    const auto last = static_cast<std::uint32_t>(past - stays) - 1;
    return is_second(routine, last) ? last - 1 : last;
}

}  // namespace weft
