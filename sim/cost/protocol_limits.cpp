#include "sim/cost/protocol_limits.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {

namespace {

// Bytes on the wire per byte of a message: LL writes a flag of 4 B beside every 4 B, LL128 one of 8 B beside 120 B
// (NCCL, src/include/device.h).
double with_flags(const ProtocolCost& protocol) {
    if (protocol.protocol == "LL") return 2.0;
    return protocol.protocol == "LL128" ? 128.0 / 120.0 : 1.0;
}

}  // namespace

MessageLoad load_of(const ProtocolCost& protocol, bool across, Ports ports) {
    const double between = ports == Ports::shared ? protocol.efficiency_shared : protocol.efficiency_across;
    return {1.0 / (across ? between : protocol.efficiency_in_node), with_flags(protocol)};
}

BytesPerSecond rate_of_sender(const Phase& phase, const Communicator& communicator, const Topology& topology,
                              const ProtocolCost& protocol) {
    const std::vector<RankId>& members = communicator.channels.front();
    const bool inside = std::ranges::all_of(
        members, [&](RankId rank) { return topology.node_of(rank) == topology.node_of(members.front()); });
    const double heaviest = weight_of(phase, phase.reduce ? phase.distance : 0);
    const double peers = phase.peer == Peer::all ? communicator.size() - 1.0 : heaviest;  // at a time
    return (inside ? protocol.rate_in_node : protocol.rate_across) / peers;
}

Pattern limited(std::vector<LinkLoad> loads, BytesPerSecond cap, BytesPerSecond alone, double duty,
                const Topology& topology) {
    Pattern pattern{.loads = std::move(loads), .cap = cap * duty, .alone = std::min(alone, cap) * duty};
    if (duty < 1.0) pattern.cap = cap_in_step(pattern, pattern, duty, topology);
    return pattern;
}

BytesPerSecond cap_in_step(const Pattern& part, const Pattern& whole, double duty, const Topology& topology) {
    BytesPerSecond cap = part.cap;
    auto all = whole.loads.begin();
    for (const LinkLoad& load : part.loads) {
        all = std::ranges::lower_bound(all, whole.loads.end(), load.link, {}, &LinkLoad::link);
        WEFT_CHECK(all != whole.loads.end() && all->link == load.link, "a part loads a link that the whole does not");
        cap = std::min(cap, topology.link(load.link).bandwidth / all->load * duty);
    }
    return cap;
}

}  // namespace weft
