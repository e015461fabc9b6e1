// What the engine needs from a network. A concept, not a base class: the engine inlines the calls.
//
// The traffic of a lock-step collective is rigid: in one phase of a ring every member moves the same number of bytes
// at the same rate over its own hop. So the unit of traffic is a *pattern*: a set of directed links, each with a load
// (how many copies of the flow cross it). A point-to-point transfer is the pattern of its route with loads 1; a ring
// is the pattern of all its hops; eight symmetric rings that run together are one pattern with larger loads.
// A flow on a pattern has one rate x; on every link  sum over flows of load * x <= bandwidth, and rates are max-min
// fair. The allocation is unique, and links with equal bandwidth and equal loads are one constraint.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"

namespace weft {

struct LinkLoad {
    LinkLoad() = default;
    LinkLoad(LinkId on, double bytes = 1.0) : link(on), load(bytes) {}
    bool operator==(const LinkLoad&) const = default;

    LinkId link{};
    std::uint32_t stands_for = 1;  // so many links, itself included: merge_equal_links()
    double load = 1.0;             // bytes on this link per byte of the flow (per member)
};

struct Pattern {
    std::vector<LinkLoad> loads;                                  // sorted by link, each link at most once, loads > 0
    BytesPerSecond cap{std::numeric_limits<double>::infinity()};  // channel or protocol limit of the flow's rate
    // Rate of one member's copy with the machine to itself, for IdealNetwork; infinite: the smallest bandwidth on the
    // route. Loads cannot tell, since they count other copies and protocol overhead, too.
    BytesPerSecond alone{std::numeric_limits<double>::infinity()};

    bool operator==(const Pattern&) const = default;
};

// Nothing limits a flow on this pattern (ranks that share a device, say): its bytes take no time and are never started.
inline bool is_unlimited(const Pattern& pattern) {
    return pattern.loads.empty() && pattern.cap.value == std::numeric_limits<double>::infinity();
}

class LinkPatterns;

template <class N>
concept NetworkModel = requires(N& network, Instant now, PatternId pattern, Bytes bytes, std::vector<FlowId>& done) {
    // Starts `bytes` > 0 on a pattern given at construction. Calls must not go back in time.
    { network.start(now, pattern, bytes) } -> std::same_as<FlowId>;
    // The instant at which the next flow finishes; Instant::never() when none is under way. Solves if rates are stale.
    { network.next_change() } -> std::same_as<Instant>;
    // Moves to `now` <= next_change() and appends the flows that finish there, in FlowId order. The next start may
    // reuse an id.
    {network.advance(now, done)};
    // Bytes that finished flows on a pattern have moved, by integrating their rates (the bytes-delivered check), and
    // which links its patterns cross: sim/network/link_patterns.hpp
    { network.moved(pattern) } -> std::same_as<Bytes>;
    { network.crossed() } -> std::same_as<const LinkPatterns&>;
    // How often rates were solved.
    { network.solves() } -> std::same_as<std::uint64_t>;
};

// A model that can tell how long a flow will take before it starts: what rank classes do by themselves then runs ahead
// of the clock (sim/engine/run_ahead.hpp). Optional: it changes no result, only the time that a run takes.
template <class N>
concept ForesightNetwork = NetworkModel<N> &&
    requires(N& network, Instant now, PatternId pattern, Bytes bytes, std::vector<PatternId>& patterns) {
    // Keeps room for a flow on a pattern that has none. True if, from now on, one at a time would have its lone_rate,
    // and take nothing from others. Where somebody comes who changes that, the room is gone, and the next
    // take_crowded_out after next_change() appends the pattern; what that said is then worth nothing, and has to be
    // asked anew. Refusing is always right.
    { network.reserve(pattern) } -> std::same_as<bool>;
    network.release(pattern);  // which still has room
    network.take_crowded_out(patterns);
    { network.lone_rate(pattern) } -> std::same_as<BytesPerSecond>;
    // So many equal flows, all of them, that had room from their begin to their end; and when each of them did, if
    // somebody wants to know.
    network.deliver(pattern, bytes, 1.0);
    { network.is_recorded() } -> std::same_as<bool>;
    network.record(pattern, bytes, now, now);
    // As start, of a flow that had room since it began, at the instant given last, and has room no longer.
    { network.resume(now, pattern, bytes, now) } -> std::same_as<FlowId>;
};

// What a message takes of the links on its route, per byte of it. Whoever drives a NIC, or moves bytes inside a node,
// may not reach what these carry, and holds them for longer than the bytes need. Between switches a link carries what
// comes, for everybody at its own rate.
struct MessageLoad {
    MessageLoad(double everywhere = 1.0) : MessageLoad(everywhere, everywhere) {}
    MessageLoad(double ends, double switches) : at_ends(ends), between_switches(switches) {}

    double at_ends;           // on links of nodes and of their ports
    double between_switches;  // on those of the network

    double on(bool joins_switches) const { return joins_switches ? between_switches : at_ends; }
    bool operator==(const MessageLoad&) const = default;
};

}  // namespace weft
