#include "sim/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/engine/exchanges.hpp"
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
    for_each_run(program, [&](const Op& what, std::uint32_t times) {
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

std::string describe(const Program& program, OpId id) {
    const Op op = program.ops[id];
    std::string text = fmt::format("{}: {} #{}", program.classes[program.class_of(id)].name,
                                   program.labels[index(op.label)], op.index);
    if (op.part != 0) text += fmt::format(", part {}", op.part);
    return text;
}

std::string explain_deadlock(const Program& written) {
    constexpr std::size_t most_lines = 10;
    const Program program = unfold(written);
    const ExchangeOps parties(program);
    Table<OpId, std::uint8_t> is_over(program.ops.size(), 0);
    for (const OpId op : order_of(program, parties)) is_over[op] = 1;
    // What each op that is not over waits for: one before it, or where it has come to an exchange, a party that has
    // not.
    Table<OpId, OpId> before(program.ops.size(), no_op);
    for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
        if (is_over[op] != 0) continue;
        for (const OpId after : program.successors_of(op)) before[after] = op;
    }
    const auto waits_for = [&](OpId op) {
        if (before[op] != no_op) return before[op];
        const auto others = parties.of(ExchangeId(program.ops[op].subject));
        return std::ranges::find_if(others, [&](const Party& other) { return before[other.op] != no_op; })->op;
    };
    // Every one waits for another, so any walk runs into a circle.
    OpId first{static_cast<std::uint32_t>(std::ranges::find(is_over, 0) - is_over.begin())};
    for (Table<OpId, std::uint8_t> seen(program.ops.size(), 0); seen[first] == 0; first = waits_for(first))
        seen[first] = 1;
    std::vector<OpId> circle{first};
    for (OpId op = waits_for(first); op != first; op = waits_for(op)) circle.push_back(op);
    std::string text = fmt::format("deadlock: {} of {} ops can never finish; of {}, each waits for the next:",
                                   std::ranges::count(is_over, 0), program.ops.size(), circle.size());
    for (const OpId op : std::span(circle).first(std::min(circle.size(), most_lines)))
        text += "\n  " + describe(program, op);
    return text + (circle.size() > most_lines ? "\n  ..." : "") + "\nand the last for the first";
}

}  // namespace weft
