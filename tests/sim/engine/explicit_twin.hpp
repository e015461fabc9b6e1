// An algorithm message by message, the slow way: a program with an exchange per message, from the transfers that prove
// it, run by the engine on FlowNetwork.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/program/program_builder.hpp"
#include "tests/sim/explicit/explicit_run.hpp"

namespace weft::testing_support {

inline Pattern pattern_of(const Route& route, const MessageLoad& load, const Topology& topology) {
    Pattern pattern;
    for (const LinkId link : route.links()) pattern.loads.push_back({link, load.on(topology.joins_switches(link))});
    std::sort(pattern.loads.begin(), pattern.loads.end(),
              [](const LinkLoad& a, const LinkLoad& b) { return a.link < b.link; });
    return pattern;
}

// One message of a round at most for each member; a lane for each.
inline Program explicit_twin(const Algorithm& algorithm, const GroupShape& shape, const std::vector<RankId>& members,
                             Bytes message, Waits waits, const Topology& topology, const ProtocolCost& protocol) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, double> messages;  // round, from, to
    for (const Transfer& t : algorithm.transfers(shape)) {
        messages[{t.round, t.from, t.to}] += 1.0 / algorithm.chunks(shape);
    }
    std::vector<std::string> lanes;
    for (std::uint32_t i = 0; i < shape.members; ++i) lanes.push_back("member " + std::to_string(i));
    ProgramBuilder builder(lanes);
    builder.begin_class("all", RankId(0), shape.members);
    std::vector<std::vector<std::pair<std::uint32_t, OpId>>> received(shape.members);  // by round
    for (const auto& [what, share] : messages) {
        const auto& [round, from, to] = what;
        const RankId a = members[from], b = members[to];
        const bool across = topology.node_of(a) != topology.node_of(b);
        const Route route = topology.route(a, b, 0);
        const MessageLoad load(1.0 / (across ? protocol.efficiency_across : protocol.efficiency_in_node), 1.0);
        const Leg leg{builder.pattern(pattern_of(route, load, topology)),
                      (across ? protocol.step_across : protocol.step_in_node) + topology.latency(route),
                      message * share};
        const CommunicationId communication =
            builder.communication({.op = algorithm.op, .group_size = 2, .message = message}, {&leg, 1});
        std::vector<OpId> after;
        for (const auto& [at, op] : received[from]) {
            if (waits == Waits::sends_and_receives && at < round) after.push_back(op);
        }
        const OpId op = builder.add({.kind = OpKind::exchange,
                                     .lane = LaneId(static_cast<std::uint8_t>(from)),
                                     .label = builder.label("message"),
                                     .subject = static_cast<std::uint32_t>(builder.exchange(communication, 1))},
                                    after);
        received[to].emplace_back(round, op);
    }
    return builder.finish();
}

inline Seconds twin_time(const Algorithm& algorithm, const GroupShape& shape, const std::vector<RankId>& members,
                         Bytes message, Waits waits, const Topology& topology, const ProtocolCost& protocol) {
    const Program program = explicit_twin(algorithm, shape, members, message, waits, topology, protocol);
    return since_start(simulate(program, topology, NetworkKind::flow).end);
}

}  // namespace weft::testing_support
