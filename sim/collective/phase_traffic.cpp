#include "sim/collective/phase_traffic.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// The largest sum of `hops` latencies in a row on a closed ring, entered anywhere.
Seconds worst_window(std::span<const Seconds> ring, std::uint32_t hops) {
    const std::size_t rest = hops % ring.size();
    const Seconds turn = std::accumulate(ring.begin(), ring.end(), Seconds{});
    Seconds window = std::accumulate(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(rest), Seconds{});
    Seconds worst = window;
    for (std::size_t i = 0; i < ring.size(); ++i) {
        window += ring[(i + rest) % ring.size()] - ring[i];
        worst = std::max(worst, window);
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
            member = (member + distance) % n;
        }
        worst = std::max(worst, worst_window(cycle, hops));
    }
    return worst;
}

}  // namespace

void LinkLoads::clear() {
    for (const LinkId link : used_) (*pages_[index(link) / page_size])[index(link) % page_size] = 0;
    used_.clear();
}

void PhaseTraffic::Traffic::add(const Traffic& other) {
    fixed.add(other.fixed);
    minimal.add(other.minimal);
    detour.add(other.detour);
}

void PhaseTraffic::Traffic::clear() {
    fixed.clear();
    minimal.clear();
    detour.clear();
}

PhaseTraffic::PhaseTraffic(const Topology& topology, const ProtocolCost& protocol)
    : topology_(topology), protocol_(protocol), own_(topology), sum_(topology) {}

PhaseTraffic::Message PhaseTraffic::add_message(RankId from, RankId to, std::uint64_t channel, double share,
                                                Ports ports) {
    const bool across = topology_.node_of(from) != topology_.node_of(to);
    const double efficiency = !across                  ? protocol_.efficiency_in_node
                              : ports == Ports::shared ? protocol_.efficiency_shared
                                                       : protocol_.efficiency_across;
    const LinkLoads::Units load = LinkLoads::units(share / efficiency);
    const Route route = topology_.route(from, to, channel);
    const std::uint32_t detours =
        across && topology_.routing != Routing::minimal ? topology_.router->detours(from, to) : 0;
    LinkLoads& minimal = detours > 0 ? own_.minimal : own_.fixed;
    for (const LinkId link : route.links()) minimal.add(link, load);
    Seconds latency = topology_.latency(route);
    const LinkLoads::Units part = detours > 0 ? LinkLoads::units(share / efficiency / detours) : 0;
    for (std::uint32_t i = 0; i < detours; ++i) {
        const Route detour = topology_.router->detour(from, to, channel, i);
        for (const LinkId link : detour.links()) own_.detour.add(link, part);
        if (topology_.routing == Routing::valiant) latency = std::max(latency, topology_.latency(detour));
    }
    return {(across ? protocol_.step_across : protocol_.step_in_node) + latency, across};
}

void PhaseTraffic::add_channel(const Phase& phase, const Communicator& communicator, std::size_t c) {
    const std::vector<RankId>& order = communicator.channels[c];
    const std::uint32_t n = communicator.size();
    WEFT_CHECK(order.size() == n, "every channel of a communicator orders all its members");
    const double share = 1.0 / static_cast<double>(communicator.channels.size());
    const auto add = [&](std::uint32_t from, std::uint32_t to, double weight) {
        messages_.push_back(add_message(order[from], order[to], c, share * weight, communicator.ports));
    };
    messages_.clear();
    if (phase.peer == Peer::listed) {
        for (const Edge& edge : phase.edges) add(edge.from, edge.to, edge.weight);
    } else {
        for (std::uint32_t i = 0; i < n; ++i) {
            if (phase.peer == Peer::all) {
                for (std::uint32_t j = 0; j < n; ++j) {
                    if (j != i) add(i, j, 1.0);
                }
            } else if (const std::uint32_t peer = peer_of(phase, i, n); peer < n) {
                add(i, peer, 1.0);
            }
        }
    }
    if (messages_.empty()) return;
    Seconds in_node, across;  // slowest messages
    for (const Message& message : messages_) {
        Seconds& slowest = message.across ? across : in_node;
        slowest = std::max(slowest, message.latency);
    }
    if (phase.peer == Peer::listed) {
        latency_ = std::max(latency_, in_node * phase.hops + across * phase.hops_across);
    } else if (phase.peer == Peer::shift || phase.peer == Peer::chain) {
        std::vector<Seconds> latencies;
        latencies.reserve(messages_.size());
        for (const Message& message : messages_) latencies.push_back(message.latency);
        latency_ = std::max(latency_, phase.peer == Peer::shift ? worst_cycle(latencies, phase.distance, phase.hops)
                                                                : worst_window(latencies, phase.hops));
    } else {
        latency_ = std::max(latency_, std::max(in_node, across) * phase.hops);
    }
}

void PhaseTraffic::add(const Phase& phase, const Communicator& communicator) {
    if (communicator.size() < 2) return;
    own_.clear();
    for (std::size_t c = 0; c < communicator.channels.size(); ++c) add_channel(phase, communicator, c);
    for (const LinkLoad& load : loads(own_)) alone_ = std::min(alone_, topology_.link(load.link).bandwidth / load.load);
    sum_.add(own_);
    duty_ = phase.duty;
    const RankId first = communicator.channels.front().front();
    const bool inside = std::all_of(communicator.channels.front().begin(), communicator.channels.front().end(),
                                    [&](RankId rank) { return topology_.node_of(rank) == topology_.node_of(first); });
    const double peers = phase.peer == Peer::all ? communicator.size() - 1.0 : 1.0;  // of a sender, at a time
    cap_ = (inside ? protocol_.rate_in_node : protocol_.rate_across) / peers;
}

// The share q of detoured bytes. The time of the busiest link, max over links of (fixed + (1 - q) minimal + q detour)
// / bandwidth, is convex and piecewise linear in q.
double PhaseTraffic::detoured(const Traffic& traffic) const {
    if (traffic.detour.used().empty()) return 0.0;
    if (topology_.routing == Routing::valiant) return 1.0;
    double bound = 0.0;  // links that q does not touch
    for (const LinkId link : traffic.fixed.used()) {
        if (traffic.minimal[link] == 0.0 && traffic.detour[link] == 0.0) {
            bound = std::max(bound, traffic.fixed[link] / topology_.link(link).bandwidth.value);
        }
    }
    const auto busiest = [&](double q) {
        double most = bound;
        const auto look = [&](LinkId link) {
            const double load = traffic.fixed[link] + (1.0 - q) * traffic.minimal[link] + q * traffic.detour[link];
            most = std::max(most, load / topology_.link(link).bandwidth.value);
        };
        for (const LinkId link : traffic.minimal.used()) look(link);
        for (const LinkId link : traffic.detour.used()) look(link);
        return most;
    };
    double low = 0.0, high = 1.0;
    for (int i = 0; i < 40; ++i) {  // thirds: (2/3)^40 = 1e-7
        const double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
        if (busiest(a) <= busiest(b)) {
            high = b;
        } else {
            low = a;
        }
    }
    const double best = busiest(low);
    return busiest(0.0) <= best * (1.0 + 1e-6) ? 0.0 : low;
}

std::vector<LinkLoad> PhaseTraffic::loads(const Traffic& traffic) const {
    const double q = detoured(traffic);
    std::vector<LinkLoad> loads;
    const auto add = [&](LinkId link) {
        const double load = traffic.fixed[link] + (1.0 - q) * traffic.minimal[link] + q * traffic.detour[link];
        if (load > 0.0) loads.push_back({link, load});
    };
    for (const LinkLoads* part : {&traffic.fixed, &traffic.minimal, &traffic.detour}) {
        for (const LinkId link : part->used()) add(link);
    }
    std::sort(loads.begin(), loads.end(), [](const LinkLoad& a, const LinkLoad& b) { return a.link < b.link; });
    loads.erase(std::unique(loads.begin(), loads.end()), loads.end());  // a link of several parts stands there as often
    return loads;
}

Pattern PhaseTraffic::pattern() const {
    Pattern pattern{.loads = loads(sum_), .cap = cap_ * duty_, .alone = std::min(alone_, cap_) * duty_};
    if (duty_ < 1.0) {
        for (const LinkLoad& load : pattern.loads) {
            pattern.cap = std::min(pattern.cap, topology_.link(load.link).bandwidth / load.load * duty_);
        }
    }
    return pattern;
}

}  // namespace weft
