// How protocols bound the rates of a phase, beside the links.
#pragma once

#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/cost/communicator.hpp"
#include "sim/cost/library.hpp"
#include "sim/network/message_load.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// Efficiencies are those of endpoints: links inside nodes, and those of their ports, are held for the bytes of a
// message divided by them. Links between switches carry its bytes alone, with the flags that NCCL's protocols write
// beside them.
MessageLoad load_of(const ProtocolCost& protocol, bool across, Ports ports);

// The most that a sender moves to each of its peers.
BytesPerSecond rate_of_sender(const Phase& phase, const Communicator& communicator, const Topology& topology,
                              const ProtocolCost& protocol);

// A pattern on these loads, sorted by link. `alone`: what the links leave the slowest communicator, its own messages
// sharing them; `cap`: the rate of a sender. Of a phase with duty < 1 the flow has that share of both, and of the rate
// that an idle network gives.
Pattern limited(std::vector<LinkLoad> loads, BytesPerSecond cap, BytesPerSecond alone, double duty,
                const Topology& topology);

// How fast a flow of duty < 1 on pattern `part` is where it runs in lock step with others, which together load links as
// pattern `whole` does: they send and pause together, and what one leaves of a link none of the others uses.
BytesPerSecond cap_in_step(const Pattern& part, const Pattern& whole, double duty, const Topology& topology);

}  // namespace weft
