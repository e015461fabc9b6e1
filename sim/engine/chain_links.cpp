#include "sim/engine/chain_links.hpp"

#include <utility>

#include "sim/engine/ticks.hpp"

namespace weft {

ChainLinks::ChainLinks(const Program& program, const Chains& chains, const ExchangeSteps& steps,
                       const std::vector<std::int64_t>& work, std::vector<std::int64_t> step_ticks)
    : program_(program), chains_(chains), work_(work), step_ticks_(std::move(step_ticks)) {
    exchange_ticks_.reserve(program.communications.size());
    for (CommunicationId id{}; id != program.communications.end_id(); id = next(id)) {
        Instant over;
        for (std::uint32_t at = steps.first(id); steps[at].kind != ExchangeSteps::Kind::end; ++at) {
            over = after_or_end(over, step_ticks_[at]);
        }
        exchange_ticks_.push_back(over.femtoseconds);
    }
}

WorkProgress ChainLinks::progress_at(const ChainLink& link, Instant now, WorkProgress progress,
                                     Disturbance beside) const {
    if (link.ops == 2 && link.computation_over <= now) return {.since = link.computation_over, .clean = work_of(link)};
    if (beside == Disturbance::none && link.exchange_over > progress.since) {
        progress.advance(std::min(link.exchange_over, now), Disturbance::transfer);
    }
    progress.advance(now, beside);
    return progress;
}

}  // namespace weft
