// FlowNetwork and RouteNetwork against SimGrid's flow-level network (Velho et al., "On the validity of flow-level TCP
// network models for grid and cloud simulations", ACM TOMACS 23 (2013) 23), which nobody here wrote: the same flows on
// the same links end at the same times.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "sim/explicit/route_network.hpp"
#include "sim/network/flow_network.hpp"
#include "tests/outside/simgrid/fair_engine.hpp"
#include "tests/sim/network/toy.hpp"
#include "topologies/machine.hpp"
#include "topologies/message_traffic.hpp"

namespace weft {
namespace {

struct Flow {
    std::vector<LinkId> route;
    Seconds start;
    std::uint64_t bytes = 0;
};

// Flows that have links to themselves; systems do not touch each other.
struct System {
    std::string name;
    Topology topology;
    std::vector<Flow> flows;
};

std::uint32_t below(std::mt19937_64& random, std::uint32_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
}

// Sizes and starts such that a flow meets a good part of the others, and some start together.
void finish_flow(Flow& flow, std::mt19937_64& random, BytesPerSecond bandwidth) {
    flow.start = {0.25 * below(random, 40)};
    flow.bytes = static_cast<std::uint64_t>(bandwidth.value) * (1 + below(random, 16)) / 4;
}

// Every flow takes one to five links of a small fabric, in any order.
System random_system(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<double> bandwidths;
    for (std::uint32_t links = 2 + below(random, 15); links > 0; --links) {
        bandwidths.push_back(1e9 * (1 + below(random, 8)));
    }
    System system{"fabric_" + std::to_string(seed), toy::fabric(bandwidths), {}};
    for (std::uint32_t flows = 1 + below(random, 40); flows > 0; --flows) {
        Flow flow;
        for (std::uint32_t hop = 1 + below(random, 5); hop > 0; --hop) {
            const LinkId link{below(random, static_cast<std::uint32_t>(bandwidths.size()))};
            if (std::find(flow.route.begin(), flow.route.end(), link) == flow.route.end()) flow.route.push_back(link);
        }
        finish_flow(flow, random, 1_GBps);
        system.flows.push_back(flow);
    }
    return system;
}

System machine_system(const std::string& machine, std::uint32_t nodes, std::uint32_t flows) {
    std::mt19937_64 random(nodes);
    System system{machine, Machine::load(machine).topology(nodes), {}};
    while (system.flows.size() < flows) {
        const RankId from{below(random, system.topology.ranks)}, to{below(random, system.topology.ranks)};
        if (from == to) continue;
        const Route route = system.topology.route(from, to, random());
        Flow flow{{route.links().begin(), route.links().end()}, {}, 0};
        finish_flow(flow, random, 10_GBps);
        system.flows.push_back(flow);
    }
    return system;
}

// What run_traffic() makes of messages between nodes: when the bytes of each start, after its latencies, and when it
// has arrived. By Simple, NCCL drives InfiniBand with all that it has, so a byte of a message is one on every link.
System traffic_system(std::uint32_t nodes, std::uint32_t count, std::vector<Seconds>& ends) {
    std::mt19937_64 random(nodes);
    const Machine machine = Machine::load("dgx-h100");
    System system{"traffic", machine.topology(nodes, {.routing = Routing::minimal}), {}};
    std::vector<TrafficMessage> messages;
    while (messages.size() < count) {
        const RankId from{below(random, system.topology.ranks)}, to{below(random, system.topology.ranks)};
        if (system.topology.node_of(from) == system.topology.node_of(to)) continue;
        messages.push_back({from, to, Bytes{1e6 * (1.0 + below(random, 64))}, Seconds{1e-4 * below(random, 8)}});
    }
    const TrafficRun ran = run_traffic(messages, system.topology, machine.info().library(), {.protocol = "Simple"}, {});
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const Route route = system.topology.route(messages[i].from, messages[i].to);
        const std::vector<LinkId> links(route.links().begin(), route.links().end());
        system.flows.push_back({links, ran.messages[i].depart, static_cast<std::uint64_t>(messages[i].bytes.value)});
        ends.push_back(ran.messages[i].arrival);
    }
    return system;
}

// Runs the flows of a system in order of their starts; `start(instant, flow)` starts one and returns its id.
template <class Network, class Start>
std::vector<Seconds> run(const System& system, Network& network, Start start) {
    std::vector<std::size_t> order(system.flows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return system.flows[a].start < system.flows[b].start; });
    std::vector<Seconds> ends(system.flows.size());
    std::vector<std::size_t> flow_of(system.flows.size());
    std::vector<FlowId> done;
    const auto advance = [&](Instant now) {
        network.advance(now, done);
        for (const FlowId id : done) ends[flow_of[index(id)]] = since_start(now);
        done.clear();
    };
    for (const std::size_t i : order) {
        const Instant now = Instant{} + system.flows[i].start;
        while (network.next_change() <= now) advance(network.next_change());
        flow_of[index(start(now, i))] = i;
    }
    while (network.next_change() != Instant::never()) advance(network.next_change());
    return ends;
}

std::vector<Seconds> ends_in_flow_network(const System& system) {
    Table<PatternId, Pattern> patterns;
    for (const Flow& flow : system.flows) {
        std::vector<std::uint32_t> links;
        for (const LinkId link : flow.route) links.push_back(static_cast<std::uint32_t>(link));
        std::sort(links.begin(), links.end());
        patterns.push_back(toy::path(links));
    }
    FlowNetwork network(system.topology, patterns);
    return run(system, network, [&](Instant now, std::size_t i) {
        const auto pattern = PatternId(static_cast<std::uint32_t>(i));
        return network.start(now, pattern, {static_cast<double>(system.flows[i].bytes)});
    });
}

std::vector<Seconds> ends_in_route_network(const System& system) {
    RouteNetwork network(system.topology);
    return run(system, network, [&](Instant now, std::size_t i) {
        Route route;
        for (const LinkId link : system.flows[i].route) route.push_back(link);
        return network.start(now, route, 1.0, {static_cast<double>(system.flows[i].bytes)});
    });
}

// A link per link, and for every flow a host to start from, one to arrive at, and a route between them.
void build_there(const System& system, simgrid::s4u::NetZone& zone, std::vector<Seconds>& ends) {
    using namespace simgrid::s4u;
    std::vector<Link*> links;
    for (LinkId link{}; index(link) < system.topology.links(); link = next(link)) {
        const std::string name = system.name + "_link_" + std::to_string(index(link));
        links.push_back(zone.create_link(name, system.topology.link(link).bandwidth.value)->set_latency(0.0)->seal());
    }
    ends.resize(system.flows.size());
    for (std::size_t i = 0; i < system.flows.size(); ++i) {
        const Flow& flow = system.flows[i];
        const std::string name = system.name + "_flow_" + std::to_string(i);
        Host* const from = zone.create_host(name + "_from", 1e9)->seal();
        Host* const to = zone.create_host(name + "_to", 1e9)->seal();
        std::vector<LinkInRoute> route;
        for (const LinkId link : flow.route) route.emplace_back(links[index(link)]);
        zone.add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
        Actor::create(name, from, [=, &flow, &ends] {
            this_actor::sleep_until(flow.start.value);
            Comm::sendto(from, to, flow.bytes);
            ends[i] = {Engine::get_clock()};
        });
    }
}

// Of the times that flows last, relative.
double largest_difference(const System& system, const std::vector<Seconds>& ours, const std::vector<Seconds>& theirs) {
    double largest = 0.0;
    for (std::size_t f = 0; f < ours.size(); ++f) {
        const double difference = std::abs((ours[f] - theirs[f]) / (theirs[f] - system.flows[f].start));
        EXPECT_LT(difference, 1e-6) << system.name << ", flow " << f << ": " << ours[f].value << " s here, "
                                    << theirs[f].value << " s there";
        largest = std::max(largest, difference);
    }
    return largest;
}

// SimGrid has one engine per process, so one test holds all systems.
TEST(simgrid, agrees_on_when_flows_end) {
    std::vector<System> systems;
    for (std::uint64_t seed = 0; seed < 40; ++seed) systems.push_back(random_system(seed));
    systems.push_back(machine_system("frontier", 4, 300));
    systems.push_back(machine_system("dgx-a100", 2, 150));
    std::vector<Seconds> ends_of_traffic;
    systems.push_back(traffic_system(64, 300, ends_of_traffic));

    FairEngine engine;
    simgrid::s4u::NetZone* const zone = simgrid::s4u::create_full_zone("all");
    std::vector<std::vector<Seconds>> ends(systems.size());
    for (std::size_t i = 0; i < systems.size(); ++i) build_there(systems[i], *zone, ends[i]);
    zone->seal();
    engine.run();

    double worst = 0.0;
    std::size_t flows = 0;
    for (std::size_t i = 0; i < systems.size(); ++i) {
        for (const auto& ours : {ends_in_flow_network(systems[i]), ends_in_route_network(systems[i])}) {
            worst = std::max(worst, largest_difference(systems[i], ours, ends[i]));
        }
        flows += systems[i].flows.size();
    }
    worst = std::max(worst, largest_difference(systems.back(), ends_of_traffic, ends.back()));
    EXPECT_LT(worst, 1e-6);
    RecordProperty("flows", static_cast<int>(flows));
    RecordProperty("largest_difference", fmt::format("{:.1e}", worst));
}

}  // namespace
}  // namespace weft
