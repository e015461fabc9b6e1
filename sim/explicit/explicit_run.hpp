// A collective in which every message is a flow of its own and nobody keeps step: members go on as soon as they can,
// whatever the others do. What lock-step phases assume away, the drift of members that contention slows, shows here.
// A member sends one message at a time, latency included, as blocking calls of MPI do: a ring goes at the pace of its
// slowest message, where phases add up the latencies along it.
#pragma once

#include <cstdint>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/cost/communicator.hpp"
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
