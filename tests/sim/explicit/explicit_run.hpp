// A collective in which every message is a flow of its own and nobody keeps step: members go on as soon as they can,
// whatever the others do. What lock-step phases assume away, the drift of members that contention slows, shows here.
// A member sends one message at a time, latency included, as blocking calls of MPI do: a ring goes at the pace of its
// slowest message, where phases add up the latencies along it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/cost/communicator.hpp"
#include "sim/cost/cost.hpp"
#include "sim/cost/library.hpp"
#include "sim/explicit/message_program.hpp"
#include "sim/explicit/message_runner.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// What a member waits for before it starts the messages of its next round.
enum class Waits : std::uint8_t {
    sends,               // its own of the round before: where nothing that it sends has to arrive first
    sends_and_receives,  // those to it as well
};

using ExplicitRun = MessageRun;  // its time with launches

// A chain fills and drains: member i has its first chunk after i rounds, and as many chunks as the first.
inline bool sends_in(const Phase& phase, std::uint32_t member, std::uint32_t round) {
    if (phase.duty == 1.0) return true;
    const auto chunks = static_cast<std::uint32_t>(std::lround(phase.repeat * phase.duty));
    return round >= member && round - member < chunks;
}

// The rounds of an algorithm's phases, one by one, as what each member does in them.
// Actors are the members in every channel, numbered channel by channel; shapes are two for each phase, in a node and
// across. Turns are rounds.
class ExplicitScript {
  public:
    ExplicitScript(std::vector<Phase> phases, const Communicator& communicator, Waits waits, const Topology& topology)
        : phases_(std::move(phases)),
          communicator_(communicator),
          topology_(topology),
          members_(communicator.size()),
          waits_(waits) {
        const bool hears = waits_ == Waits::sends_and_receives;
        if (hears) sender_.assign(phases_.size() * members_, members_);
        for (std::uint32_t p = 0; p < phases_.size(); ++p) {
            const Phase& phase = phases_[p];
            first_.push_back(static_cast<std::uint32_t>(phase_of_.size()));
            phase_of_.insert(phase_of_.end(), phase.repeat, p);
            if (!hears) continue;
            first_inbox_.push_back(inboxes_);
            inboxes_ += phase.peer == Peer::all ? phase.repeat : 1;
            for (std::uint32_t i = 0; phase.peer != Peer::all && i < members_; ++i) {
                const std::uint32_t peer = peer_of(phase, i, members_);
                if (peer >= members_) continue;
                std::uint32_t& sender = sender_[std::size_t{p} * members_ + peer];
                WEFT_CHECK(sender == members_, "two members send to one in a round");
                sender = i;
            }
        }
        WEFT_CHECK(inboxes_ <= index(no_inbox), "too many phases for an explicit run");
    }

    const std::vector<Phase>& phases() const { return phases_; }
    // Of each member. In a phase it hears of one peer only, which sends one message at a time: an inbox for each phase.
    // From all peers it waits for as many messages as there are: an inbox for each round.
    std::uint32_t inboxes() const { return inboxes_; }

    MessageAction next(ActorId actor, ScriptPlace& place) const {
        const auto number = static_cast<std::uint32_t>(actor);
        const std::uint32_t member = number % members_;
        MessageAction action = next_of(member, place);
        const std::vector<RankId>& ranks = communicator_.channels[number / members_];
        const auto peer = static_cast<std::uint32_t>(action.to);
        const bool across = topology_.node_of(ranks[member]) != topology_.node_of(ranks[peer]);
        action.subject = 2 * action.subject + (across ? 1 : 0);
        action.to = ActorId(number - member + peer);
        return action;
    }

  private:
    struct Part {
        bool sends = false, receives = false;
        bool operator==(const Part&) const = default;
    };

    // Its subject is a phase, its receiver a member.
    MessageAction next_of(std::uint32_t member, ScriptPlace& place) const {
        for (; place.next < phase_of_.size(); ++place.next) {
            const std::uint32_t round = place.turn = place.next;
            const std::uint32_t p = phase_of_[round];
            if (phases_[p].peer == Peer::all) return next_among_all(member, place);
            const Part now = part(member, round);
            if (now == Part{}) continue;
            if (phases_[p].duty == 1.0) {
                place.next = end_of(p);
            } else {
                while (++place.next < end_of(p) && part(member, place.next) == now) {
                }
            }
            MessageAction action{.kind = MessageActionKind::send, .subject = p, .repeat = place.next - round};
            if (now.sends) action.to = ActorId(peer_of(phases_[p], member, members_));
            if (now.receives) action.kind = now.sends ? MessageActionKind::exchange : MessageActionKind::receive;
            if (waits_ == Waits::sends_and_receives)
                action.inbox = InboxId(static_cast<std::uint16_t>(first_inbox_[p]));
            return action;
        }
        return {};
    }

    Part part(std::uint32_t member, std::uint32_t round) const {
        const std::uint32_t p = phase_of_[round];
        const Phase& phase = phases_[p];
        const std::uint32_t in_phase = round - first_[p];
        Part part;
        part.sends = peer_of(phase, member, members_) < members_ && sends_in(phase, member, in_phase);
        if (waits_ == Waits::sends_and_receives) {
            const std::uint32_t sender = sender_[std::size_t{p} * members_ + member];
            part.receives = sender < members_ && sends_in(phase, sender, in_phase);
        }
        return part;
    }

    // Posts to the others, waits until all those have arrived, and for as many.
    MessageAction next_among_all(std::uint32_t member, ScriptPlace& place) const {
        const std::uint32_t p = phase_of_[place.next];
        const bool hears = waits_ == Waits::sends_and_receives;
        const InboxId inbox =
            hears ? InboxId(static_cast<std::uint16_t>(first_inbox_[p] + place.next - first_[p])) : no_inbox;
        const std::uint32_t peer = ++place.branch;
        if (peer < members_) {
            return {.kind = MessageActionKind::post,
                    .inbox = inbox,
                    .subject = p,
                    .to = ActorId((member + peer) % members_)};
        }
        if (peer == members_) {
            if (!hears) ++place.next, place.branch = 0;
            return {.kind = MessageActionKind::settle};
        }
        ++place.next, place.branch = 0;
        return {.kind = MessageActionKind::receive, .inbox = inbox, .repeat = members_ - 1};
    }

    std::uint32_t end_of(std::uint32_t phase) const { return first_[phase] + phases_[phase].repeat; }

    std::vector<Phase> phases_;
    const Communicator& communicator_;
    const Topology& topology_;
    std::uint32_t members_;
    Waits waits_;
    std::uint32_t inboxes_ = 0;
    std::vector<std::uint32_t> first_;        // round of each phase
    std::vector<std::uint32_t> phase_of_;     // by round
    std::vector<std::uint32_t> first_inbox_;  // by phase
    std::vector<std::uint32_t> sender_;       // to each member in each phase: the past-the-end member if there is none
};

inline MessageTables tables_of(const ExplicitScript& script, const Communicator& communicator, Bytes message,
                               const Topology& topology, const ProtocolCost& protocol) {
    MessageTables tables{.inboxes = script.inboxes()};
    for (std::uint32_t channel = 0; channel < communicator.channels.size(); ++channel) {
        for (const RankId rank : communicator.channels[channel]) tables.seats.push_back({rank, channel});
    }
    const auto channels = static_cast<double>(communicator.channels.size());
    const Bytes of_a_channel = message / channels;
    const MessageLoad in_node = load_of(protocol, false, communicator.ports);
    const MessageLoad across = load_of(protocol, true, communicator.ports);
    for (const Phase& phase : script.phases()) {
        const Bytes bytes = of_a_channel * phase.fraction;
        const BytesPerSecond cap = rate_of_sender(phase, communicator, topology, protocol) / channels;
        tables.shapes.push_back({bytes, in_node, cap, protocol.step_in_node});
        const double parts = std::min(protocol.most_channels, message * phase.fraction / protocol.channel_part);
        tables.shapes.push_back({bytes, across, cap, protocol.step_across + protocol.post_channel * parts});
    }
    return tables;
}

// Whether an algorithm consists of rounds of equal messages. Listed phases have all links work at once on small chunks,
// and a switch that adds does not send what members exchange: neither can be run message by message.
inline bool has_rounds(const Algorithm& algorithm, const GroupShape& shape) {
    const std::vector<Phase> phases = algorithm.phases(shape);
    return algorithm.needs == Needs::nothing && std::none_of(phases.begin(), phases.end(), [](const Phase& phase) {
               return phase.peer == Peer::listed || phase.doubled > 0;
           });
}

// What the members of an algorithm with rounds have to wait for: sends alone if no member passes on what it received.
// In an all-to-all whose members send (n - 1)/n of the message in all, every block goes straight to where it belongs.
inline Waits waits_of(const Algorithm& algorithm, const GroupShape& shape) {
    if (algorithm.op == Collective::send_receive || algorithm.op == Collective::point_to_point) return Waits::sends;
    if (algorithm.op != Collective::all_to_all) return Waits::sends_and_receives;
    const double others = shape.members - 1.0;
    double sent = 0.0;
    for (const Phase& phase : algorithm.phases(shape)) {
        sent += phase.volume() * (phase.peer == Peer::all ? others : 1.0);
    }
    return sent <= others / shape.members * (1.0 + 1e-9) ? Waits::sends : Waits::sends_and_receives;
}

// Runs one call from its start, all members together. Every channel of `communicator` runs beside the others with its
// part of the message. A message takes the protocol's step and the latencies of its minimal route, then its bytes; what
// ProtocolCost::overlap hides of latencies is not hidden here. Where the fabric routes adaptively, a message looks at
// the minimal route and two detours when its bytes start, and takes the one on which it can expect most (as UGAL does
// packet by packet: Singh, PhD thesis, Stanford 2005); under Valiant routing it takes any detour. LogicError if the
// algorithm cannot run in that shape or has no rounds, or if the network delivers other than it was asked for.
inline ExplicitRun run_explicitly(const Algorithm& algorithm, const GroupShape& shape, const Communicator& communicator,
                                  Bytes message, Waits waits, const Topology& topology, const Library& library,
                                  const ProtocolCost& protocol) {
    const Seconds launch = library.launch + protocol.launch;
    WEFT_CHECK(communicator.size() == shape.members, "a communicator of another size than its shape says");
    if (shape.members < 2) return {.time = launch};
    const std::string name(algorithm.name);
    WEFT_CHECK(algorithm.runs(shape), name + " cannot run in a group of this shape");
    WEFT_CHECK(has_rounds(algorithm, shape), name + " does not consist of messages in rounds");
    const ExplicitScript script(algorithm.phases(shape), communicator, waits, topology);
    const MessageTables tables = tables_of(script, communicator, message, topology, protocol);
    ExplicitRun run = MessageRunner<ExplicitScript>(script, tables, topology).run();
    run.time += launch;
    return run;
}

}  // namespace weft
