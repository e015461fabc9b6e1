// The latencies that add up from the first message of a phase to its last.
#pragma once

#include <span>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/cost/library.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

struct MessageLatency {
    Seconds value;  // the protocol's step and the latencies of the links
    bool across = false;
    bool operator==(const MessageLatency&) const = default;
};

// Of the messages of a round, in the order of for_each_message; none: zero. Messages that follow one another (shift,
// chain) add up along the worst `hops` in a row, round the ring as often as need be; for listed edges `hops` times the
// slowest message in a node and `hops_across` times the slowest between nodes; otherwise `hops` times the slowest.
Seconds phase_latency(const Phase& phase, std::span<const MessageLatency> messages);

// Until a member of a group has posted a message to every other one: the longest of all members.
Seconds posting(const Topology& topology, const ProtocolCost& protocol, std::span<const RankId> members);

}  // namespace weft
