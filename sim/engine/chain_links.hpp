// How long the links of chains take as long as nobody interferes: to the tick as the event loop finds it op by op.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/chains.hpp"
#include "sim/engine/exchange_steps.hpp"
#include "sim/engine/ticks.hpp"
#include "sim/engine/work_progress.hpp"
#include "sim/program/program.hpp"

namespace weft {

// A link, when it begins, and when its ops are over; `begin` for what it does not have.
struct ChainLink {
    OpId first{};
    std::uint32_t ops = 1;
    Instant begin, computation_over, exchange_over;

    Instant over() const { return std::max(computation_over, exchange_over); }
};

class ChainLinks {
  public:
    // All arguments but the last must outlive this. `work`: Program::work in ticks. `step_ticks`: of ExchangeSteps, of
    // flows that have room.
    ChainLinks(const Program& program, const Chains& chains, const ExchangeSteps& steps,
               const std::vector<std::int64_t>& work, std::vector<std::int64_t> step_ticks);

    std::int64_t ticks_of_step(std::uint32_t step) const { return step_ticks_[step]; }
    CommunicationId communication_of(OpId exchange) const {
        return program_.exchanges[ExchangeId(program_.ops[exchange].subject)].communication;
    }

    // The link that begins with `op`. Its computation has come as far as `progress` says.
    ChainLink at(std::uint32_t op, Instant begin, const WorkProgress& progress, Disturbance beside) const;
    // How far the computation of a link that is under way has come by `now`; one that is over has nothing left.
    WorkProgress progress_at(const ChainLink& link, Instant now, WorkProgress progress, Disturbance beside) const;

  private:
    // Of a link that has a computation.
    std::int64_t work_of(const ChainLink& link) const {
        return work_[program_.ops[OpId{static_cast<std::uint32_t>(link.first) + link.ops - 1}].subject];
    }
    Instant computation_over(std::int64_t work, WorkProgress progress, Instant exchange_over, Disturbance beside) const;

    const Program& program_;
    const Chains& chains_;
    const std::vector<std::int64_t>& work_;
    std::vector<std::int64_t> step_ticks_;
    Table<CommunicationId, std::int64_t> exchange_ticks_;  // of all steps
};

inline ChainLink ChainLinks::at(std::uint32_t op, Instant begin, const WorkProgress& progress,
                                Disturbance beside) const {
    ChainLink link{
        .first = OpId{op}, .ops = chains_.ops(op), .begin = begin, .computation_over = begin, .exchange_over = begin};
    const OpKind kind = program_.ops[link.first].kind;
    if (kind == OpKind::exchange) {
        link.exchange_over = after_or_end(begin, exchange_ticks_[communication_of(link.first)]);
    }
    if (kind == OpKind::compute || link.ops == 2) {
        link.computation_over = computation_over(work_of(link), progress, link.exchange_over, beside);
    }
    return link;
}

// The exchange of a link slows the computation while it lasts.
inline Instant ChainLinks::computation_over(std::int64_t work, WorkProgress progress, Instant exchange_over,
                                            Disturbance beside) const {
    const auto over = [&](Disturbance what) {
        return after_or_end(progress.since, progress.left(work, what, program_.interference));
    };
    if (beside == Disturbance::transfer) return over(beside);
    if (exchange_over > progress.since) {
        if (const Instant slow = over(Disturbance::transfer); slow <= exchange_over) return slow;
        progress.advance(exchange_over, Disturbance::transfer);
    }
    return over(Disturbance::none);
}

}  // namespace weft
