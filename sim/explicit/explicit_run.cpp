#include "sim/explicit/explicit_run.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/cost/protocol_limits.hpp"

namespace weft {
namespace {

// The rounds of every member in every channel. Actors are numbered channel by channel; shapes are two for each phase,
// in a node and across.
class ExplicitScript {
  public:
    ExplicitScript(const ExplicitRounds& rounds, const Communicator& communicator, const Topology& topology)
        : rounds_(rounds), communicator_(communicator), topology_(topology), members_(communicator.size()) {}

    MessageAction next(ActorId actor, ScriptPlace& place) const {
        const auto number = static_cast<std::uint32_t>(actor);
        const std::uint32_t member = number % members_;
        MessageAction action = rounds_.next(member, place);
        const std::vector<RankId>& ranks = communicator_.channels[number / members_];
        const auto peer = static_cast<std::uint32_t>(action.to);
        const bool across = topology_.node_of(ranks[member]) != topology_.node_of(ranks[peer]);
        action.subject = 2 * action.subject + (across ? 1 : 0);
        action.to = ActorId(number - member + peer);
        return action;
    }

  private:
    const ExplicitRounds& rounds_;
    const Communicator& communicator_;
    const Topology& topology_;
    std::uint32_t members_;
};

// That a member sends at most in one channel. As in PhaseTraffic: by whether the group spans nodes.
BytesPerSecond rate_of_a_member(const Communicator& communicator, const Topology& topology,
                                const ProtocolCost& protocol) {
    const std::vector<RankId>& ranks = communicator.channels.front();
    const bool inside = std::all_of(ranks.begin(), ranks.end(), [&](RankId rank) {
        return topology.node_of(rank) == topology.node_of(ranks.front());
    });
    return (inside ? protocol.rate_in_node : protocol.rate_across) / static_cast<double>(communicator.channels.size());
}

MessageTables tables_of(const ExplicitRounds& rounds, const Communicator& communicator, Bytes message,
                        const Topology& topology, const ProtocolCost& protocol) {
    MessageTables tables{.inboxes = rounds.inboxes()};
    for (std::uint32_t channel = 0; channel < communicator.channels.size(); ++channel) {
        for (const RankId rank : communicator.channels[channel]) tables.seats.push_back({rank, channel});
    }
    const Bytes of_a_channel = message / static_cast<double>(communicator.channels.size());
    const BytesPerSecond rate = rate_of_a_member(communicator, topology, protocol);
    const MessageLoad in_node = load_of(protocol, false, communicator.ports);
    const MessageLoad across = load_of(protocol, true, communicator.ports);
    for (const Phase& phase : rounds.phases()) {
        const Bytes bytes = of_a_channel * phase.fraction;
        const BytesPerSecond cap = rate / rounds.peers(phase);
        tables.shapes.push_back({bytes, in_node, cap, protocol.step_in_node});
        const double parts = std::min(protocol.most_channels, message * phase.fraction / protocol.channel_part);
        tables.shapes.push_back({bytes, across, cap, protocol.step_across + protocol.post_channel * parts});
    }
    return tables;
}

}  // namespace

bool has_rounds(const Algorithm& algorithm, const GroupShape& shape) {
    const std::vector<Phase> phases = algorithm.phases(shape);
    return algorithm.needs == Needs::nothing && std::none_of(phases.begin(), phases.end(), [](const Phase& phase) {
               return phase.peer == Peer::listed || phase.doubled > 0;
           });
}

// In an all-to-all whose members send (n - 1)/n of the message in all, every block goes straight to where it belongs.
Waits waits_of(const Algorithm& algorithm, const GroupShape& shape) {
    if (algorithm.op == Collective::send_receive || algorithm.op == Collective::point_to_point) return Waits::sends;
    if (algorithm.op != Collective::all_to_all) return Waits::sends_and_receives;
    const double others = shape.members - 1.0;
    double sent = 0.0;
    for (const Phase& phase : algorithm.phases(shape)) {
        sent += phase.volume() * (phase.peer == Peer::all ? others : 1.0);
    }
    return sent <= others / shape.members * (1.0 + 1e-9) ? Waits::sends : Waits::sends_and_receives;
}

ExplicitRun run_explicitly(const Algorithm& algorithm, const GroupShape& shape, const Communicator& communicator,
                           Bytes message, Waits waits, const Topology& topology, const Library& library,
                           const ProtocolCost& protocol) {
    const Seconds launch = library.launch + protocol.launch;
    WEFT_CHECK(communicator.size() == shape.members, "a communicator of another size than its shape says");
    if (shape.members < 2) return {.time = launch};
    const std::string name(algorithm.name);
    WEFT_CHECK(algorithm.runs(shape), name + " cannot run in a group of this shape");
    WEFT_CHECK(has_rounds(algorithm, shape), name + " does not consist of messages in rounds");
    const ExplicitRounds rounds(algorithm.phases(shape), shape.members, waits);
    const MessageTables tables = tables_of(rounds, communicator, message, topology, protocol);
    const ExplicitScript script(rounds, communicator, topology);
    ExplicitRun run = MessageRunner<ExplicitScript>(script, tables, topology).run();
    run.time += launch;
    return run;
}

}  // namespace weft
