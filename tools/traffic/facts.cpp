#include "tools/traffic/facts.hpp"

#include <algorithm>

#include "tools/output/topology_facts.hpp"
#include "topologies/vertex_names.hpp"

namespace weft {
namespace {

std::vector<TrafficMessage> on_machine(const TrafficRequest& request, const Topology& topology) {
    const auto place = [&](std::uint32_t rank) {
        const std::uint32_t per_node = request.layout.ranks_per_node;
        return RankId(rank / per_node * topology.ranks_per_node + rank % per_node);
    };
    std::vector<TrafficMessage> messages;
    messages.reserve(request.messages.size());
    for (const RankMessage& each : request.messages) {
        messages.push_back({place(each.from), place(each.to), each.bytes, each.start});
    }
    return messages;
}

TrafficSpread spread_of(std::vector<double> values) {
    std::ranges::sort(values);
    return {values.front(), values[(values.size() - 1) / 2], values.back()};
}

std::vector<TrafficLinkFacts> busiest_links(const TrafficRun& run, const Topology& topology, std::size_t top) {
    std::vector<CarryingLink> links = run.links;
    std::ranges::stable_sort(links, [](const CarryingLink& a, const CarryingLink& b) { return a.held > b.held; });
    links.resize(std::min(links.size(), top));
    const VertexNames names(topology);
    std::vector<TrafficLinkFacts> facts;
    for (const CarryingLink& link : links) {
        facts.push_back({.from = names[topology.tail(link.link)],
                         .to = names[topology.head(link.link)],
                         .link_class = topology.link(link.link).name,
                         .messages = link.messages,
                         .bound = link.bound,
                         .bytes = link.bytes,
                         .busy = link.held / run.time});
    }
    return facts;
}

}  // namespace

TrafficFacts traffic_facts(const TrafficRequest& request, std::size_t top) {
    const Topology topology = request.machine.topology(request.layout.nodes(), request.fabric);
    const std::vector<TrafficMessage> messages = on_machine(request, topology);
    const Seconds host = request.calls == Calls::blocking ? request.library->blocking : Seconds{};
    TrafficFacts facts{.run = run_traffic(messages, topology, *request.library, request.preference, host)};
    std::vector<double> rates, times;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const SentMessage& sent = facts.run.messages[i];
        facts.bytes += messages[i].bytes;
        rates.push_back(sent.rate(messages[i].bytes).value);
        times.push_back((sent.arrival - messages[i].start).value);
    }
    for (const CarryingLink& link : facts.run.links) {
        facts.link_bytes += link.bytes;
        facts.meets_others |= has_background(request.fabric, topology.link(link.link).name);
    }
    facts.time = facts.run.time;
    facts.rates = spread_of(std::move(rates));
    facts.times = spread_of(std::move(times));
    facts.links = facts.run.links.size();
    facts.busiest = busiest_links(facts.run, topology, top);
    return facts;
}

}  // namespace weft
