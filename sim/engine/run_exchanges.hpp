// How exchanges go through their steps: the part of sim/engine/run.hpp that includes this.
#pragma once

#include "sim/engine/run.hpp"

namespace weft {

// What an own exchange of a routine counts down starts anew each time.
template <NetworkModel N>
void Engine<N>::arrive(ExchangeId exchange) {
    Progress& progress = progress_[exchange];
    if (progress.missing > 1) {
        --progress.missing;
        return;
    }
    progress.step = steps_.first(program_.exchanges[exchange].communication);
    for (const Party& party : parties_.of(exchange)) timeline_.spans[party.op].begin = now_;
    if (leg_time_ == LegTime::none) return complete_all(exchange);
    begin_transfer(exchange);
    take_step(exchange);
}

template <NetworkModel N>
void Engine<N>::take_step(ExchangeId exchange) {
    const ExchangeSteps::Step& step = steps_[progress_[exchange].step];
    switch (step.kind) {
        case ExchangeSteps::Kind::latency:
            events_.schedule(after(now_, step.ticks), EventKind::latency_over, static_cast<std::uint32_t>(exchange));
            return;
        case ExchangeSteps::Kind::flow:
            return start_flow(exchange, step);
        case ExchangeSteps::Kind::end:
            return finish(exchange);
    }
}

template <NetworkModel N>
void Engine<N>::start_flow(ExchangeId exchange, const ExchangeSteps::Step& step) {
    watch_flow(network_.start(now_, step.pattern, step.bytes), exchange, step.bytes);
}

template <NetworkModel N>
void Engine<N>::watch_flow(FlowId flow, ExchangeId exchange, Bytes bytes) {
    while (index(flow) >= flow_exchange_.size()) flow_exchange_.push_back({});
    flow_exchange_[flow] = exchange;
    asked_ += bytes;
}

template <NetworkModel N>
void Engine<N>::step_over(ExchangeId exchange) {
    ++progress_[exchange].step;
    take_step(exchange);
    post_ready();
}

template <NetworkModel N>
void Engine<N>::finish(ExchangeId exchange) {
    end_transfer(exchange);
    complete_all(exchange);
}

template <NetworkModel N>
void Engine<N>::complete_all(ExchangeId exchange) {
    for (const Party& party : parties_.of(exchange)) complete(party.op);
}

}  // namespace weft
