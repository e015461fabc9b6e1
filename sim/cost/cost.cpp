#include "sim/cost/cost.hpp"

#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/cost/phase_traffic.hpp"

namespace weft {

namespace {

// `costs` are those of `phases`, one by one.
std::vector<PhaseCost> join_stretches(std::span<const Phase> phases, std::vector<PhaseCost> costs, Seconds launch) {
    std::vector<PhaseCost> stretches;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        if (i > 0 && same_traffic(phases[i - 1], phases[i])) {
            stretches.back().path += costs[i].path;
            stretches.back().posts += costs[i].posts;
            stretches.back().channels_per_byte =
                std::max(stretches.back().channels_per_byte, costs[i].channels_per_byte);
            stretches.back().bytes_per_message_byte += costs[i].bytes_per_message_byte;
            ++stretches.back().phases;
        } else {
            stretches.push_back(std::move(costs[i]));
        }
    }
    stretches.front().launch = launch;
    return stretches;
}

// Time of the bytes on idle links: none where nothing limits them.
Seconds idle(const PhaseCost& phase, Bytes message) { return phase.bytes(message) / phase.pattern.alone; }

}  // namespace

Bytes Loops::of(Bytes message) const {
    Bytes loop = first, least = longest;
    for (const double loops : halved_below) {
        least = least / 2.0;
        if (loop > least && message < loop * loops) loop = loop / 2.0;
    }
    return std::min(loop, message);
}

Seconds PhaseCost::cutting(Bytes message) const {
    const Bytes loop = loops.of(message);
    const double inside = (bytes(loop) / loops.inside).value;
    const Seconds stage{std::pow(std::pow(loops.each.value, overlap) + std::pow(inside, overlap), 1.0 / overlap)};
    return std::max(stage, idle(*this, loop)) * (message / loop + loops.fill) - idle(*this, message);
}

Seconds PhaseCost::latency(Bytes message) const {
    const Seconds whole = critical_path(message);
    if (loops.first > Bytes{} && message > Bytes{}) return launch + whole + cutting(message);
    if (overlap == 1.0 || whole == Seconds{}) return launch + whole;
    // (L^p + B^p)^(1/p) - B, in terms of the smaller over the larger so that nothing overflows or cancels.
    const double l = whole.value, b = idle(*this, message).value;
    if (l >= b) return launch + Seconds{l * std::pow(1.0 + std::pow(b / l, overlap), 1.0 / overlap) - b};
    return launch + Seconds{b * std::expm1(std::log1p(std::pow(l / b, overlap)) / overlap)};
}

Seconds PhaseCost::time(Bytes message) const { return latency(message) + idle(*this, message); }

// Routes are the costly part: each kind of traffic is routed once.
std::vector<PhaseCost> cost(std::span<const Phase> phases, const std::function<PhaseCost(const Phase&)>& cost_of,
                            const Library& library, const ProtocolCost& protocol) {
    std::vector<PhaseCost> costs;  // one per phase
    for (std::size_t i = 0; i < phases.size(); ++i) {
        std::size_t known = 0;
        while (known < i && !same_traffic(phases[known], phases[i])) ++known;
        costs.push_back(known < i ? costs[known] : cost_of(phases[i]));
        costs.back().bytes_per_message_byte = phases[i].volume();
        costs.back().channels_per_byte = phases[i].fraction / protocol.channel_part.value;
    }
    return join_stretches(phases, std::move(costs), library.launch + protocol.launch);
}

namespace {

Loops loops_of(const Router& router, Phase phase, std::span<const Communicator> communicators, const Topology& topology,
               const ProtocolCost& protocol) {
    if (phase.heads == 0 || !(protocol.chunk > Bytes{})) return {};
    PhaseTraffic inside(topology, protocol, router);
    const std::vector<RankId>& ranks = communicators.front().channels.front();
    std::erase_if(phase.edges, [&](const Edge& edge) {
        return topology.node_of(ranks[edge.from]) != topology.node_of(ranks[edge.to]);
    });
    for (const Communicator& communicator : communicators) inside.add(phase, communicator);
    const Bytes longest = protocol.chunk * (phase.heads * protocol.most_channels);
    return {longest,
            longest / phase.finer,
            protocol.halved_below,
            protocol.post_in_node * phase.heads,
            static_cast<double>(phase.fill),
            inside.pattern().alone};
}

PhaseCost cost_by(const Router& router, const Phase& phase, std::span<const Communicator> communicators,
                  const Topology& topology, const ProtocolCost& protocol, const PhaseCost* whole) {
    PhaseTraffic traffic(topology, protocol, router);
    for (const Communicator& communicator : communicators) traffic.add(phase, communicator);
    const double share = whole != nullptr ? whole->detoured : traffic.detoured();
    Pattern pattern = traffic.pattern(share);
    if (whole != nullptr && phase.duty < 1.0) pattern.cap = cap_in_step(pattern, whole->pattern, phase.duty, topology);
    return {.pattern = std::move(pattern),
            .path = traffic.latency(),
            .posts = traffic.posts(),
            .channels_per_byte = phase.fraction / protocol.channel_part.value,
            .most_channels = protocol.most_channels,
            .bytes_per_message_byte = phase.volume(),
            .overlap = protocol.overlap,
            .loops = loops_of(router, phase, communicators, topology, protocol),
            .detoured = share,
            .around = &router != topology.router.get()};
}

}  // namespace

PhaseCost cost(const Phase& phase, std::span<const Communicator> communicators, const Topology& topology,
               const ProtocolCost& protocol, const PhaseCost* whole) {
    const auto by = [&](const Router& router) {
        return cost_by(router, phase, communicators, topology, protocol, whole);
    };
    if (whole != nullptr) return by(whole->around ? *topology.around : *topology.router);
    PhaseCost direct = by(*topology.router);
    const auto is_faulty = [&](const LinkLoad& load) { return topology.link(load.link).intact.has_value(); };
    if (topology.around == nullptr || std::ranges::none_of(direct.pattern.loads, is_faulty)) return direct;
    // Where both are as fast, a slow link that is the bottleneck is left to those who cannot avoid it.
    PhaseCost around = by(*topology.around);
    const BytesPerSecond tied = direct.pattern.alone * (1.0 - 1e-9);
    const auto limits = [&](const LinkLoad& load) {
        return is_faulty(load) && topology.link(load.link).bandwidth / load.load * (1.0 - 1e-9) <= direct.pattern.alone;
    };
    const bool is_tie = around.pattern.alone >= tied && std::ranges::any_of(direct.pattern.loads, limits);
    return around.pattern.alone > direct.pattern.alone || is_tie ? around : direct;
}

bool same_traffic(const Phase& a, const Phase& b) {
    const bool same_messages = a.peer == b.peer && a.distance == b.distance && a.span == b.span && a.edges == b.edges;
    return same_messages && a.doubled == b.doubled && a.hops == b.hops && a.duty == b.duty &&
           a.hops_across == b.hops_across;
}

Pattern moved(Pattern pattern, const LinkMove& move) {
    for (LinkLoad& load : pattern.loads) load.link = move(load.link);
    if (!move.keeps_order()) std::ranges::sort(pattern.loads, {}, &LinkLoad::link);
    return pattern;
}

std::vector<PhaseCost> moved(std::vector<PhaseCost> phases, const LinkMove& move) {
    for (PhaseCost& phase : phases) phase.pattern = moved(std::move(phase.pattern), move);
    return phases;
}

Seconds time_of(std::span<const PhaseCost> phases, Bytes message) {
    return sum_of<Seconds>(phases, [&](const PhaseCost& phase) { return phase.time(message); });
}

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
