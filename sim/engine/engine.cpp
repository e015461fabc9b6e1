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

namespace {

constexpr std::size_t most_lines = 10;

enum class Reason : std::uint8_t { nothing, dependency, partner };

struct Wait {
    OpId on{};
    Reason why = Reason::nothing;
};

// For every op that is not over, the first thing that it waits for.
Table<OpId, Wait> find_waits(const Program& program, const ExchangeOps& parties,
                             const Table<OpId, std::uint8_t>& is_over) {
    Table<OpId, Wait> waits(program.ops.size());
    for (OpId id{}; id != program.ops.end_id(); id = next(id)) {
        if (is_over[id] != 0) continue;
        for (const OpId after : program.successors_of(id)) {
            if (waits[after].why == Reason::nothing) waits[after] = {id, Reason::dependency};
        }
    }
    for (OpId id{}; id != program.ops.end_id(); id = next(id)) {
        if (is_over[id] != 0 || waits[id].why != Reason::nothing) continue;  // else it has come to an exchange
        for (const auto [party, rank_class] : parties.of(ExchangeId(program.ops[id].subject))) {
            if (waits[party].why != Reason::dependency) continue;
            waits[id] = {party, Reason::partner};
            break;
        }
    }
    return waits;
}

// Every op that is not over waits for another one, so any walk along the waits runs into a circle.
std::vector<OpId> find_circle(const Table<OpId, Wait>& waits, OpId start) {
    Table<OpId, std::uint8_t> seen(waits.size(), 0);
    OpId op = start;
    while (seen[op] == 0) {
        seen[op] = 1;
        WEFT_CHECK(waits[op].why != Reason::nothing, "an op neither runs nor waits");
        op = waits[op].on;
    }
    std::vector<OpId> circle{op};
    for (OpId next_op = waits[op].on; next_op != op; next_op = waits[next_op].on) circle.push_back(next_op);
    // The same text wherever the walk entered it.
    std::rotate(circle.begin(), std::min_element(circle.begin(), circle.end()), circle.end());
    return circle;
}

std::string reason(const Program& program, OpId op, const Wait& wait) {
    if (wait.why == Reason::partner) return "its partner in the exchange";
    if (program.ops[op].lane == program.ops[wait.on].lane) {
        return fmt::format("ahead of it on lane {}", program.lanes[index(program.ops[op].lane)]);
    }
    return "which it depends on";
}

}  // namespace

std::string describe(const Program& program, OpId id) {
    const Op& op = program.ops[id];
    std::string text = fmt::format("{}: {} #{}", program.classes[program.class_of(id)].name,
                                   program.labels[index(op.label)], op.index);
    if (op.part != 0) text += fmt::format(", part {}", op.part);
    return text;
}

std::string explain_deadlock(const Program& written) {
    const Program program = unfold(written);
    const ExchangeOps parties(program);
    Table<OpId, std::uint8_t> is_over(program.ops.size(), 0);
    for (const OpId op : order_of(program, parties)) is_over[op] = 1;
    const auto stuck = std::ranges::count(is_over, 0);
    const OpId start{static_cast<std::uint32_t>(std::ranges::find(is_over, 0) - is_over.begin())};
    const Table<OpId, Wait> waits = find_waits(program, parties, is_over);
    const std::vector<OpId> circle = find_circle(waits, start);

    std::string text = fmt::format("deadlock: {} of {} ops can never finish; {} of them wait in a circle:", stuck,
                                   program.ops.size(), circle.size());
    for (std::size_t i = 0; i < circle.size(); ++i) {
        if (i == most_lines - 1 && circle.size() > most_lines) {
            text += fmt::format("\n  ... {} more ...", circle.size() - most_lines);
            i = circle.size() - 1;
        }
        const OpId op = circle[i];
        text += fmt::format("\n  {} waits for {} ({})", i == 0 ? describe(program, op) : "which",
                            describe(program, waits[op].on), reason(program, op, waits[op]));
        text += i + 1 == circle.size() ? "" : ",";
    }
    return text;
}

}  // namespace weft
