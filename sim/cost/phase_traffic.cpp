#include "sim/cost/phase_traffic.hpp"

#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/cost/cost.hpp"

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
        const auto latencies = list_of<Seconds>(messages, &MessageLatency::value);
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

PhaseTraffic::PhaseTraffic(const Topology& topology, const ProtocolCost& protocol, const Router& router)
    : topology_(topology), protocol_(protocol), router_(router), busiest_(topology) {}

PhaseTraffic::Part PhaseTraffic::part(const MessageLoad& load, double share) const {
    return {equal_channels_ * LinkLoads::units(share * load.at_ends),
            equal_channels_ * LinkLoads::units(share * load.between_switches)};
}

MessageLatency PhaseTraffic::add_message(RankId from, RankId to, std::uint64_t channel, double share, Ports ports) {
    const bool across = topology_.node_of(from) != topology_.node_of(to);
    const MessageLoad load = load_of(protocol_, across, ports);
    const Part whole = part(load, share);
    const Route route = router_.route(from, to, channel);
    const std::uint32_t detours = across && uses_detours(topology_.routing) ? router_.detours(from, to) : 0;
    const RouteKind kind = detours > 0 ? RouteKind::minimal : RouteKind::only;
    for (const LinkId link : route.links()) own_.loads.add(link, kind, whole.on(topology_.joins_switches(link)));
    Seconds latency = topology_.latency(route);
    const Part each = detours > 0 ? part(load, share / detours) : Part{};
    if (detours > 0 && topology_.routing == Routing::adaptive) {
        own_.undecided.push_back({from, to, static_cast<std::uint32_t>(channel), each});
    }
    for (std::uint32_t i = 0; i < detours && topology_.routing == Routing::valiant; ++i) {
        const Route detour = router_.detour(from, to, channel, i);
        for (const LinkId link : detour.links()) {
            own_.loads.add(link, RouteKind::detour, each.on(topology_.joins_switches(link)));
        }
        own_.has_detours = true;
        latency = std::max(latency, topology_.latency(detour));
    }
    return {(across ? protocol_.step_across : protocol_.step_in_node) + latency, across};
}

void PhaseTraffic::add_channel(const Phase& phase, const Communicator& communicator, std::size_t c) {
    const std::vector<RankId>& order = communicator.channels[c];
    WEFT_CHECK(order.size() == communicator.size(), "every channel of a communicator orders all its members");
    const double share = 1.0 / static_cast<double>(communicator.channels.size());
    const std::size_t first = messages_.size();
    const auto add = [&](std::uint32_t from, std::uint32_t to, double weight) {
        messages_.push_back(add_message(order[from], order[to], c, share * weight, communicator.ports));
    };
    for_each_message(phase, communicator.size(), add);
    const Seconds posts = phase.peer == Peer::all ? posting(topology_, protocol_, order) : Seconds{};
    const std::span added = std::span(messages_).subspan(first);
    latency_ = std::max(latency_, posts + phase_latency(phase, added));
    if (protocol_.post_channel == Seconds{}) return;
    for (MessageLatency& message : added) message.value = message.across ? protocol_.post_channel : Seconds{};
    posts_ = std::max(posts_, phase_latency(phase, added));
}

// Takes what a router counts.
class PhaseTraffic::Counting final : public ExchangeSink {
  public:
    // What messages load their links with, of which each is `share`.
    Counting(LinkLoads& loads, const Topology& topology, double share, const MessageLoad& inside,
             const MessageLoad& across)
        : loads_(loads), topology_(topology), share_(share), inside_(inside), across_(across) {}

    void add(LinkId link, ExchangeRoute kind, double messages, std::uint32_t parts) override {
        const MessageLoad& load = kind == ExchangeRoute::inside ? inside_ : across_;
        const double each = share_ / parts * load.on(topology_.joins_switches(link));
        const RouteKind as = kind == ExchangeRoute::detour    ? RouteKind::detour
                             : kind == ExchangeRoute::minimal ? minimal
                                                              : RouteKind::only;
        // Whole numbers as the sum of so many messages, to the bit.
        const bool whole = messages == std::floor(messages);
        loads_.add(link, as,
                   whole ? static_cast<LinkLoads::Units>(messages) * LinkLoads::units(each)
                         : LinkLoads::units(messages * each));
    }
    void reach(ExchangeRoute kind, Seconds latency) override {
        Seconds& longest = kind == ExchangeRoute::inside ? longest_inside : longest_across;
        longest = std::max(longest, latency);
        reaches_inside |= kind == ExchangeRoute::inside;
        reaches_across |= kind != ExchangeRoute::inside;
        diverts |= kind == ExchangeRoute::minimal;
    }

    RouteKind minimal = RouteKind::minimal;  // what minimal routes count as
    Seconds longest_inside, longest_across;
    bool reaches_inside = false, reaches_across = false, diverts = false;

  private:
    LinkLoads& loads_;
    const Topology& topology_;
    double share_;
    MessageLoad inside_, across_;
};

// A complete exchange by counting, where the router can; false where it cannot, and where few take part: one by one,
// the longest route is that of a message, where counting adds the longest end to the longest route between switches.
// Channels differ by their routes alone.
bool PhaseTraffic::count_exchange(const Communicator& communicator) {
    constexpr std::size_t most_routed = 64;
    const std::span<const RankId> ranks = communicator.channels.front();
    if (!communicator.copies.empty() || ranks.size() <= most_routed) return false;
    const double share = 1.0 / static_cast<double>(communicator.channels.size());
    const MessageLoad across = load_of(protocol_, true, communicator.ports);
    Counting sink(own_.loads, topology_, share, load_of(protocol_, false, communicator.ports), across);
    if (!uses_detours(topology_.routing)) sink.minimal = RouteKind::only;
    for (std::uint64_t c = 0; c < communicator.channels.size(); ++c) {
        if (!router_.add_exchange(ranks, c, Router::Routes::straight, sink)) return false;
        if (!sink.diverts || !uses_detours(topology_.routing)) continue;
        if (topology_.routing == Routing::adaptive) {
            own_.exchanges.push_back({ranks, c, share, across});
        } else {
            router_.add_exchange(ranks, c, Router::Routes::detours, sink);
            own_.has_detours = true;
        }
    }
    Seconds longest;
    if (sink.reaches_inside) longest = protocol_.step_in_node + sink.longest_inside;
    if (sink.reaches_across) longest = std::max(longest, protocol_.step_across + sink.longest_across);
    latency_ = std::max(latency_, posting(topology_, protocol_, ranks) + longest);
    return true;
}

void PhaseTraffic::count_detours(Traffic& traffic, const DivertibleExchange& exchange) {
    Counting sink(traffic.loads, topology_, exchange.share, exchange.load, exchange.load);
    router_.add_exchange(exchange.ranks, exchange.channel, Router::Routes::detours, sink);
}

void PhaseTraffic::add_messages(const Phase& phase, const Communicator& communicator) {
    if (phase.peer == Peer::all && count_exchange(communicator)) return;
    const std::size_t channels = communicator.channels.size();
    equal_channels_ = channels_are_equal(phase, communicator) ? static_cast<LinkLoads::Units>(channels) : 1;
    messages_.clear();
    for (std::size_t c = 0; c < channels / static_cast<std::size_t>(equal_channels_); ++c) {
        add_channel(phase, communicator, c);
    }
}

// Where everyone sends to everyone, the order of a channel does not matter: channels differ by their routes alone.
bool PhaseTraffic::channels_are_equal(const Phase& phase, const Communicator& communicator) const {
    if (phase.peer != Peer::all) return false;
    const std::vector<RankId>& members = communicator.channels.front();
    return std::all_of(members.begin(), members.end(), [&](RankId from) {
        return std::all_of(members.begin(), members.end(), [&](RankId to) {
            return router_.has_one_route(from, to) &&
                   (!uses_detours(topology_.routing) || router_.detours(from, to) == 0);
        });
    });
}

void PhaseTraffic::add(const Phase& phase, const Communicator& communicator) {
    if (communicator.size() < 2) return;
    own_.clear();
    add_messages(phase, communicator);
    const BusiestLinks::Settled settled = settle(own_);
    alone_ = std::min(alone_, settled.rate);
    const bool is_all = sum_.loads.is_empty() && communicator.copies.empty();
    lone_share_ = is_all ? std::optional(settled.detoured) : std::nullopt;
    for (const LinkMove& move : communicator.copies) sum_.add_moved(own_, move);
    if (sum_.loads.is_empty()) {
        std::swap(sum_, own_);
    } else {
        sum_.add(own_);
    }
    duty_ = phase.duty;
    cap_ = rate_of_sender(phase, communicator, topology_, protocol_);
}

void PhaseTraffic::route_detours(Traffic& traffic) {
    for (const Divertible& message : traffic.undecided) {
        links_.clear();
        router_.add_detours(message.from, message.to, message.channel, links_);
        for (const LinkTimes& each : links_) {
            const LinkLoads::Units load = message.part.on(topology_.joins_switches(each.link));
            traffic.loads.add(each.link, RouteKind::detour, each.times * load);
        }
    }
    for (const DivertibleExchange& exchange : traffic.exchanges) count_detours(traffic, exchange);
    traffic.has_detours |= traffic.is_undecided();
    traffic.undecided.clear();
    traffic.exchanges.clear();
}

BusiestLinks::Settled PhaseTraffic::settle(Traffic& traffic) {
    if (traffic.is_undecided()) {
        const StraightTraffic straight(traffic.loads, topology_);
        if (!straight.may_gain()) return {.rate = straight.rate()};
        route_detours(traffic);
    }
    busiest_.find(traffic.loads);
    return traffic.has_detours ? busiest_.settle() : BusiestLinks::Settled{.rate = busiest_.rate(0.0)};
}

double PhaseTraffic::detoured() { return lone_share_ ? *lone_share_ : settle(sum_).detoured; }

Pattern PhaseTraffic::pattern(double detoured) {
    if (detoured > 0.0) route_detours(sum_);
    std::vector<LinkLoad> loads;
    sum_.loads.sort();
    loads.reserve(sum_.loads.links());
    sum_.loads.for_each([&](LinkId link, const LinkLoads::Cell& cell) {
        if (const double load = cell.at(detoured); load > 0.0) loads.push_back({link, load});
    });
    return limited(std::move(loads), cap_, alone_, duty_, topology_);
}

}  // namespace weft
