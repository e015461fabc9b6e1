#include "sim/engine/engine.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "sim/engine/run.hpp"
#include "sim/network/flow_network.hpp"
#include "sim/network/traffic_recorder.hpp"

namespace weft {
namespace {

std::uint64_t flows_of(const Program& program) {
    Table<CommunicationId, std::uint32_t> flows;
    for (const Communication& what : program.communications) {
        const auto legs = std::span(program.legs).subspan(what.first_leg, what.legs);
        flows.push_back(static_cast<std::uint32_t>(std::ranges::count_if(legs, [&](const Leg& leg) {
            return leg.bytes > Bytes{} && !is_unlimited(program.patterns[leg.pattern]);
        })));
    }
    double all = 0.0;
    for_each_run(program, [&](OpId op, std::uint32_t times) {
        const Op& what = program.ops[op];
        if (what.kind != OpKind::exchange) return;
        const Exchange& exchange = program.exchanges[ExchangeId(what.subject)];
        all += static_cast<double>(flows[exchange.communication]) * times / exchange.parties;
    });
    return static_cast<std::uint64_t>(all + 0.5);
}

// A network that tells how far it has come.
template <NetworkModel N>
class Watched : public N {
  public:
    Watched(const Program& program, const Topology& topology, const FlowListener& listener)
        : N(topology, program.patterns, most_in_flight(program)),
          listener_(listener),
          all_(listener ? flows_of(program) : 0) {}

    void advance(Instant now, std::vector<FlowId>& done) {
        const std::size_t before = done.size();
        N::advance(now, done);
        over_ += done.size() - before;
        if (++advances_ % often == 0 && listener_) listener_(over_, all_);
    }

  private:
    static constexpr std::uint64_t often = 1U << 13U;

    const FlowListener& listener_;
    std::uint64_t all_, over_ = 0, advances_ = 0;
};

template <NetworkModel N>
Timeline run_on(const Program& program, const Topology& topology, TrafficRecorder* recorder,
                const FlowListener& listener) {
    Watched<N> network(program, topology, listener);
    if (recorder != nullptr) network.record_to(*recorder);
    return run(program, topology, network);
}

// No leg reaches the network, so it needs no patterns.
Timeline run_free(const Program& program, const Topology& topology) {
    IdealNetwork silent(topology, {});
    Timeline timeline = Engine<IdealNetwork>(program, silent, LegTime::none).run();
    sum_up_links(topology, silent, timeline);
    return timeline;
}

// `recorder`: null if nobody wants to know of traffic.
Timeline run_recorded(const Program& program, const Topology& topology, NetworkKind kind, TrafficRecorder* recorder,
                      const FlowListener& listener) {
    switch (kind) {
        case NetworkKind::flow:
            return run_on<FlowNetwork>(program, topology, recorder, listener);
        case NetworkKind::ideal:
            return run_on<IdealNetwork>(program, topology, recorder, listener);
        case NetworkKind::free:
            return run_free(program, topology);
    }
    throw LogicError("unknown kind of network");
}

}  // namespace

Timeline simulate(const Program& program, const Topology& topology, NetworkKind kind, Recording recording,
                  const FlowListener& listener) {
    if (recording == Recording::spans) return run_recorded(program, topology, kind, nullptr, listener);
    UtilizationRecorder recorder(topology, program.patterns);
    Timeline timeline = run_recorded(program, topology, kind, &recorder, listener);
    timeline.samples = recorder.samples(timeline.end);
    return timeline;
}

std::vector<Table<PatternId, Bytes>> moved_in_slices(const Program& program, const Topology& topology, NetworkKind kind,
                                                     Instant end, std::uint32_t slices, const FlowListener& listener) {
    if (kind == NetworkKind::free) return std::vector<Table<PatternId, Bytes>>(slices);
    TrafficSlices recorder(program.patterns.size(), end, slices);
    run_recorded(program, topology, kind, &recorder, listener);
    return std::move(recorder).take();
}

}  // namespace weft
