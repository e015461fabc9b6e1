#include "tools/collective/table.hpp"

#include <fmt/format.h>

#include <span>

#include "sim/base/check.hpp"

namespace weft {
namespace {

std::string_view peer_text(Peer peer) {
    switch (peer) {
        case Peer::shift:
            return "shift";
        case Peer::shift_in_span:
            return "shift in span";
        case Peer::chain:
            return "chain";
        case Peer::exchange:
            return "exchange";
        case Peer::fold:
            return "fold";
        case Peer::unfold:
            return "unfold";
        case Peer::grow:
            return "grow";
        case Peer::shrink:
            return "shrink";
        case Peer::all:
            return "all to all";
        case Peer::listed:
            return "listed edges";
    }
    throw LogicError("a Peer outside its enumerators");
}

bool has_distance(Peer peer) { return peer != Peer::all && peer != Peer::listed && peer != Peer::chain; }

// Of the phases that one stretch joins.
std::string pattern_text(std::span<const Phase> phases) {
    std::uint32_t rounds = 0;
    for (const Phase& phase : phases) rounds += phase.repeat;
    const Phase& first = phases.front();
    std::string text(peer_text(first.peer));
    if (has_distance(first.peer)) text += fmt::format(" by {}", first.distance);
    if (first.span > 0) text += fmt::format(" below {}", first.span);
    if (first.peer == Peer::listed) text = fmt::format("{} {}", first.edges.size(), text);
    return text + fmt::format(", {} round{}", rounds, rounds == 1 ? "" : "s");
}

std::string bottleneck(const Pattern& pattern, const Topology& topology) {
    if (is_unlimited(pattern)) return "";
    std::string name = "cap";
    BytesPerSecond least = pattern.cap;
    for (const LinkLoad& load : pattern.loads) {
        const BytesPerSecond rate = topology.link(load.link).bandwidth / load.load;
        if (!(rate < least)) continue;
        least = rate;
        name = topology.link(load.link).name;
    }
    return name;
}

std::vector<PhaseFacts> explain_phases(CollectiveSet& set, const Topology& topology, const Choice& choice,
                                       Bytes message) {
    const std::vector<Phase> phases =
        set.layout().members() < 2 ? std::vector<Phase>{} : choice.algorithm->phases(set.costs().shape());
    std::vector<PhaseFacts> facts;
    std::size_t first = 0;
    for (const PhaseCost& cost : set.costs().phases(choice)) {
        const bool moves = !is_unlimited(cost.pattern);
        facts.push_back({.pattern = phases.empty() ? "" : pattern_text(std::span(phases).subspan(first, cost.phases)),
                         .launch = cost.launch,
                         .path = cost.path,
                         .latency = cost.latency(message),
                         .bytes_time = moves ? cost.bytes(message) / idle_rate(cost.pattern, topology) : Seconds{},
                         .bytes = cost.bytes(message),
                         .bottleneck = bottleneck(cost.pattern, topology)});
        first += cost.phases;
    }
    return facts;
}

Standing standing(const CollectiveSet& set, const Choice& candidate, const Choice& chosen, Bytes message) {
    if (candidate == chosen) return Standing::chosen;
    return set.costs().carries(candidate, message) ? Standing::possible : Standing::out_of_bounds;
}

// Of the whole call; the host's part too where it waits for each.
Seconds call_time(CollectiveSet& set, const CollectiveRequest& request, const Choice& choice, Bytes message) {
    return set.time(choice, message) + (request.calls == Calls::blocking ? request.library->blocking : Seconds{});
}

std::vector<CandidateFacts> explain_candidates(CollectiveSet& set, const CollectiveRequest& request,
                                               const Choice& chosen, Bytes message) {
    std::vector<CandidateFacts> facts;
    for (const Choice& choice : set.costs().candidates(request.op, request.preference)) {
        facts.push_back({.algorithm = choice.protocol->algorithm,
                         .protocol = choice.protocol->protocol,
                         .time = call_time(set, request, choice, message),
                         .standing = standing(set, choice, chosen, message)});
    }
    return facts;
}

CollectiveRow make_row(CollectiveSet& set, const Topology& topology, const CollectiveRequest& request, Bytes message) {
    const std::uint32_t members = request.layout.members();
    const Choice choice = choose(set, request, message);
    CollectiveRow row{.size = stated_size(request.op, message, request.convention, members),
                      .message = message,
                      .time = call_time(set, request, choice, message),
                      .algorithm = choice.protocol->algorithm,
                      .protocol = choice.protocol->protocol,
                      .channels = set.channels(choice)};
    if (row.time > Seconds{}) row.algorithm_bandwidth = message / row.time;
    row.bus_bandwidth = row.algorithm_bandwidth * bus_factor(request.op, members);
    for (const CollectiveSet::ClassUse& use : set.utilization(choice, message)) {
        row.links.push_back({topology.classes[use.link_class].name, use.utilization});
    }
    if (request.detail == Detail::explained) {
        row.phases = explain_phases(set, topology, choice, message);
        row.candidates = explain_candidates(set, request, choice, message);
    }
    return row;
}

}  // namespace

std::vector<CollectiveRow> predict(const CollectiveRequest& request) {
    check_preference(*request.library, request.op, request.preference);
    const Topology topology = request.machine.topology(request.layout.nodes(), request.fabric);
    CollectiveSet set(topology, *request.library, request.layout);
    std::vector<CollectiveRow> rows;
    for (const Bytes message : request.messages) rows.push_back(make_row(set, topology, request, message));
    return rows;
}

}  // namespace weft
