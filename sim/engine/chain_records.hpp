// What becomes of the links of chains that are over: the part of sim/engine/chain_runner.hpp that includes this.
#pragma once

#include "sim/engine/chain_runner.hpp"

namespace weft {

// The links that are over by `until`. Returns the one after.
template <NetworkModel N>
ChainLink ChainRunner<N>::record(const Run& run, Instant until, Timeline& timeline, Bytes& asked) {
    if (run.caller) return record_in_routine(run, until, timeline);
    ChainLink link;
    Instant at = run.begin;
    for (std::uint32_t op = run.first; op < run.end; op += link.ops) {
        link = link_at(run, op, at);
        at = link.over();
        if (at > until) return link;
        record(link, timeline, asked);
    }
    return link;
}

template <NetworkModel N>
void ChainRunner<N>::record(const ChainLink& link, Timeline& timeline, Bytes& asked) {
    for (std::uint32_t i = 0; i < link.ops; ++i) {
        const auto op = OpId(static_cast<std::uint32_t>(link.first) + i);
        const bool is_exchange = program_.ops[op].kind == OpKind::exchange;
        const Instant end = is_exchange ? link.exchange_over : link.computation_over;
        timeline.spans[op] = {link.begin, link.begin, end};
        if (is_exchange) {
            record_steps(ExchangeId(program_.ops[op].subject), link.begin, end, timeline, asked);
        } else if (program_.ops[op].kind == OpKind::compute) {
            ++timeline.events;
        }
    }
}

template <NetworkModel N>
std::pair<std::uint32_t, Instant> ChainRunner<N>::record_steps(ExchangeId exchange, Instant begin, Instant now,
                                                               Timeline& timeline, Bytes& asked) {
    std::uint32_t at = steps_.first(program_.exchanges[exchange].communication);
    for (; steps_[at].kind != ExchangeSteps::Kind::end; ++at) {
        const Instant end{begin.femtoseconds + links_.ticks_of_step(at)};
        if (end > now) break;
        if (steps_[at].kind == ExchangeSteps::Kind::flow) {
            network_.deliver(steps_[at].pattern, steps_[at].bytes, 1.0);
            network_.record(steps_[at].pattern, steps_[at].bytes, begin, end);
            asked += steps_[at].bytes;
        }
        ++timeline.events;
        begin = end;
    }
    return {at, begin};
}

}  // namespace weft
