#include "sim/collective/communicator.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {
namespace {

using Loads = std::vector<LinkLoad>;

// Sums the loads of each link from `first` on and sorts them by link. Equal links are summed in the order of their
// loads, so that the result does not depend on the order in which messages were added.
void merge(Loads& loads, std::ptrdiff_t first) {
    std::sort(loads.begin() + first, loads.end(),
              [](const LinkLoad& a, const LinkLoad& b) { return std::tie(a.link, a.load) < std::tie(b.link, b.load); });
    auto out = loads.begin() + first;
    for (auto in = out; in != loads.end(); ++out) {
        *out = *in++;
        for (; in != loads.end() && in->link == out->link; ++in) out->load += in->load;
    }
    loads.erase(out, loads.end());
}

BytesPerSecond idle_rate(const Topology& topology, std::span<const LinkLoad> loads) {
    BytesPerSecond rate{std::numeric_limits<double>::infinity()};
    for (const auto& [link, load] : loads) rate = std::min(rate, topology.link(link).bandwidth / load);
    return rate;
}

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

Seconds critical_path(const Phase& phase, std::span<const Seconds> messages) {
    if (messages.empty()) return {};
    if (phase.peer == Peer::shift) return worst_cycle(messages, phase.distance, phase.hops);
    if (phase.peer == Peer::chain) return worst_window(messages, phase.hops);
    return *std::max_element(messages.begin(), messages.end()) * phase.hops;
}

bool same_traffic(const Phase& a, const Phase& b) {
    return a.peer == b.peer && a.distance == b.distance && a.span == b.span && a.hops == b.hops && a.duty == b.duty;
}

PhaseCost route_phase(const Phase& phase, std::span<const Communicator> communicators, const Topology& topology,
                      const LibraryCost& library) {
    PhaseTraffic traffic(topology, library);
    for (const Communicator& communicator : communicators) traffic.add(phase, communicator);
    return {traffic.pattern(), traffic.latency(), phase.volume()};
}

// `costs` are those of `phases`, one by one.
std::vector<PhaseCost> join_stretches(std::span<const Phase> phases, std::vector<PhaseCost> costs, Seconds launch) {
    std::vector<PhaseCost> stretches;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        if (i > 0 && same_traffic(phases[i - 1], phases[i])) {
            stretches.back().latency += costs[i].latency;
            stretches.back().bytes_per_message_byte += costs[i].bytes_per_message_byte;
        } else {
            stretches.push_back(std::move(costs[i]));
        }
    }
    stretches.front().latency += launch;
    return stretches;
}

}  // namespace

Seconds PhaseTraffic::add_message(RankId from, RankId to, std::uint64_t channel, double share) {
    const bool in_node = topology_.node_of(from) == topology_.node_of(to);
    const double load = share / (in_node ? library_.efficiency_in_node : library_.efficiency_across);
    const Route route = topology_.route(from, to, channel);
    for (const LinkId link : route.links()) loads_.push_back({link, load});
    return (in_node ? library_.step_in_node : library_.step_across) + topology_.latency(route);
}

void PhaseTraffic::add(const Phase& phase, const Communicator& communicator) {
    const std::uint32_t n = communicator.size();
    if (n < 2) return;
    const auto first = static_cast<std::ptrdiff_t>(loads_.size());
    const double share = 1.0 / static_cast<double>(communicator.channels.size());
    for (std::size_t c = 0; c < communicator.channels.size(); ++c) {
        const std::vector<RankId>& order = communicator.channels[c];
        WEFT_CHECK(order.size() == n, "every channel of a communicator orders all its members");
        messages_.clear();
        for (std::uint32_t i = 0; i < n; ++i) {
            if (phase.peer == Peer::all) {
                for (std::uint32_t j = 0; j < n; ++j) {
                    if (j != i) messages_.push_back(add_message(order[i], order[j], c, share));
                }
            } else if (const std::uint32_t peer = peer_of(phase, i, n); peer < n) {
                messages_.push_back(add_message(order[i], order[peer], c, share));
            }
        }
        latency_ = std::max(latency_, critical_path(phase, messages_));
    }
    merge(loads_, first);
    alone_ = std::min(alone_, idle_rate(topology_, std::span(loads_).subspan(static_cast<std::size_t>(first))));
    duty_ = phase.duty;
}

Pattern PhaseTraffic::pattern() const {
    Pattern pattern{.loads = loads_, .alone = alone_ * duty_};
    merge(pattern.loads, 0);
    if (duty_ < 1.0) pattern.cap = idle_rate(topology_, pattern.loads) * duty_;
    return pattern;
}

std::vector<PhaseCost> cost(const Algorithm& algorithm, std::span<const Communicator> communicators,
                            const Topology& topology, const LibraryCost& library) {
    WEFT_CHECK(!communicators.empty(), "a collective without communicators");
    const std::uint32_t n = communicators.front().size();
    for (const Communicator& communicator : communicators) {
        WEFT_CHECK(communicator.size() == n, "communicators in lock step have equally many members");
    }
    WEFT_CHECK(n <= algorithm.most_members, std::string(algorithm.name) + " cannot run among so many members");
    if (n < 2) return {{.latency = library.launch}};

    const std::vector<Phase> phases = algorithm.phases(n);
    std::vector<PhaseCost> costs;  // one per phase
    for (const Phase& phase : phases) {
        std::size_t known = 0;  // routes are the costly part: each kind of traffic is routed once
        while (known < costs.size() && !same_traffic(phases[known], phase)) ++known;
        costs.push_back(known < costs.size() ? costs[known] : route_phase(phase, communicators, topology, library));
        costs.back().bytes_per_message_byte = phase.volume();
    }
    return join_stretches(phases, std::move(costs), library.launch);
}

}  // namespace weft
