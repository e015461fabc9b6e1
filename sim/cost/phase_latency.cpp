#include "sim/cost/phase_latency.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

namespace weft {
namespace {

// The largest sum of `hops` latencies in a row on a closed ring, entered anywhere.
Seconds worst_window(std::span<const Seconds> ring, std::uint32_t hops) {
    const std::size_t rest = hops % ring.size();
    const Seconds turn = std::accumulate(ring.begin(), ring.end(), Seconds{});
    Seconds window = std::accumulate(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(rest), Seconds{});
    Seconds worst = window;
    std::size_t end = rest;
    for (const Seconds first : ring) {
        window += ring[end] - first;
        worst = std::max(worst, window);
        if (++end == ring.size()) end = 0;
    }
    return turn * static_cast<double>(hops / ring.size()) + worst;
}

// Messages follow one another along the cycles i, i + distance, i + 2 distance, ...: gcd(n, distance) of them.
Seconds worst_cycle(std::span<const Seconds> messages, std::uint32_t distance, std::uint32_t hops) {
    const std::size_t n = messages.size();
    const std::size_t cycles = std::gcd(n, std::size_t{distance});
    Seconds worst;
    std::vector<Seconds> cycle(n / cycles);
    for (std::size_t start = 0; start < cycles; ++start) {
        std::size_t member = start;
        for (Seconds& message : cycle) {
            message = messages[member];
            member += distance;
            if (member >= n) member %= n;
        }
        worst = std::max(worst, worst_window(cycle, hops));
    }
    return worst;
}

}  // namespace

Seconds phase_latency(const Phase& phase, std::span<const MessageLatency> messages) {
    if (messages.empty()) return {};
    if (phase.peer == Peer::shift || phase.peer == Peer::chain) {  // messages follow one another
        std::vector<Seconds> latencies;
        latencies.reserve(messages.size());
        for (const MessageLatency& message : messages) latencies.push_back(message.value);
        if (phase.peer == Peer::chain || phase.distance == 1) return worst_window(latencies, phase.hops);
        return worst_cycle(latencies, phase.distance, phase.hops);
    }
    Seconds in_node, across;  // slowest messages
    for (const MessageLatency& message : messages) {
        Seconds& slowest = message.across ? across : in_node;
        slowest = std::max(slowest, message.value);
    }
    if (phase.peer == Peer::listed) return in_node * phase.hops + across * phase.hops_across;
    return std::max(in_node, across) * phase.hops;
}

Seconds posting(const Topology& topology, const ProtocolCost& protocol, std::span<const RankId> members) {
    std::map<std::uint32_t, std::uint32_t> on_node;
    for (const RankId rank : members) ++on_node[topology.node_of(rank)];
    Seconds longest;
    for (const auto& [node, here] : on_node) {
        const double near = here - 1.0, far = static_cast<double>(members.size() - here);
        longest = std::max(longest, protocol.post_in_node * near + protocol.post_across * far);
    }
    return longest;
}

}  // namespace weft
