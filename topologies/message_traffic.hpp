// Messages between ranks, each sent by itself as a communication library sends it, and each a flow of its own on the
// links of the machine: what a pattern of traffic takes that is no collective.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/cost/group_costs.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

struct TrafficMessage {
    RankId from{}, to{};  // not the same
    Bytes bytes{};        // more than 0
    Seconds start{};      // when the sender calls
};

// Messages that the library sends by one method: what bounds them besides the links.
struct SendingMethod {
    std::string_view protocol;
    bool across = false;      // to another node
    double efficiency = 1.0;  // of links of nodes and of their ports
    BytesPerSecond most{};    // that one sender sends, however fast its links are; infinite: as fast as they are
    std::uint32_t messages = 0;
};

struct SentMessage {
    std::uint32_t method = 0;
    std::uint32_t hops = 0;  // links that it takes
    Seconds depart{};        // when its first byte is on the links
    Seconds arrival{};
    BytesPerSecond rate(Bytes bytes) const { return bytes / (arrival - depart); }
};

struct CarryingLink {
    LinkId link{};
    std::uint32_t messages = 0;
    std::uint32_t bound = 0;  // messages of whose links this is the one that is held longest
    Bytes bytes{};
    Seconds held;  // that the link needs for all that it carries, as the library drives it
};

struct TrafficRun {
    Seconds time;  // until the last message has arrived
    std::vector<SendingMethod> methods{};
    std::vector<SentMessage> messages{};  // in the order asked
    std::vector<CarryingLink> links{};    // that carry anything, by number
    std::uint32_t bound_by_library = 0;   // messages that take longer at the most that they may have than on any link
};

// A message costs what a send_receive of two ranks costs: the library's launch, the step and what of the latencies on
// its route the bytes do not hide, then its bytes, max-min fair with the others on their links. Messages that a rank
// sends at one time share the most that it may send. `preference` may force a protocol; `host`: what the host adds to
// each call. Throws RangeError where the library has no row for a message.
TrafficRun run_traffic(std::span<const TrafficMessage> messages, const Topology& topology, const Library& library,
                       const Preference& preference, Seconds host);

}  // namespace weft
