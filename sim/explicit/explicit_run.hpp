// A collective in which every message is a flow of its own and nobody keeps step: members go on as soon as they can,
// whatever the others do. What lock-step phases assume away, the drift of members that contention slows, shows here.
// A member sends one message at a time, latency included, as blocking calls of MPI do: a ring goes at the pace of its
// slowest message, where phases add up the latencies along it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/cost/communicator.hpp"
#include "sim/cost/library.hpp"
#include "sim/explicit/message_program.hpp"
#include "sim/explicit/message_runner.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// The rounds of an algorithm's phases, one by one, as what each member does in them.
// What a member waits for before it starts the messages of its next round.
enum class Waits : std::uint8_t {
    sends,               // its own of the round before: where nothing that it sends has to arrive first
    sends_and_receives,  // those to it as well
};

class ExplicitRounds {
  public:
    ExplicitRounds(std::vector<Phase> phases, std::uint32_t members, Waits waits);

    const std::vector<Phase>& phases() const { return phases_; }
    // To how many peers a sender sends in a round of the phase.
    double peers(const Phase& phase) const { return phase.peer == Peer::all ? members_ - 1.0 : 1.0; }
    // Of each member. In a phase it hears of one peer only, which sends one message at a time: an inbox for each phase.
    // From all peers it waits for as many messages as there are: an inbox for each round.
    std::uint32_t inboxes() const { return inboxes_; }

    // A script of actions, whose subjects are phases and whose receivers are members. Turns are rounds.
    MessageAction next(std::uint32_t member, ScriptPlace& place) const;

  private:
    struct Part {
        bool sends = false, receives = false;
        bool operator==(const Part&) const = default;
    };
    Part part(std::uint32_t member, std::uint32_t round) const;
    MessageAction next_among_all(std::uint32_t member, ScriptPlace& place) const;
    std::uint32_t end_of(std::uint32_t phase) const { return first_[phase] + phases_[phase].repeat; }

    std::vector<Phase> phases_;
    std::uint32_t members_;
    Waits waits_;
    std::uint32_t inboxes_ = 0;
    std::vector<std::uint32_t> first_;        // round of each phase
    std::vector<std::uint32_t> phase_of_;     // by round
    std::vector<std::uint32_t> first_inbox_;  // by phase
    std::vector<std::uint32_t> sender_;       // to each member in each phase: the past-the-end member if there is none
};

using ExplicitRun = MessageRun;  // its time with launches

// Whether an algorithm consists of rounds of equal messages. Listed phases have all links work at once on small chunks,
// and a switch that adds does not send what members exchange: neither can be run message by message.
bool has_rounds(const Algorithm& algorithm, const GroupShape& shape);

// What the members of an algorithm with rounds have to wait for: sends alone if no member passes on what it received.
Waits waits_of(const Algorithm& algorithm, const GroupShape& shape);

// Runs one call from its start, all members together. Every channel of `communicator` runs beside the others with its
// part of the message. A message takes the protocol's step and the latencies of its minimal route, then its bytes; what
// ProtocolCost::overlap hides of latencies is not hidden here. Where the fabric routes adaptively, a message looks at
// the minimal route and two detours when its bytes start, and takes the one on which it can expect most (as UGAL does
// packet by packet: Singh, PhD thesis, Stanford 2005); under Valiant routing it takes any detour. LogicError if the
// algorithm cannot run in that shape or has no rounds, or if the network delivers other than it was asked for.
ExplicitRun run_explicitly(const Algorithm& algorithm, const GroupShape& shape, const Communicator& communicator,
                           Bytes message, Waits waits, const Topology& topology, const Library& library,
                           const ProtocolCost& protocol);

}  // namespace weft
