// Communicators that sit on their nodes alike share what their messages inside nodes load. Twin: one by one.
#include "sim/cost/inside_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "sim/cost/phase_traffic.hpp"
#include "tests/sim/collective/members.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

using testing_support::loads_of;

// Four accelerators of each node, from the `first` on, through the nodes there and back in two channels.
Communicator on(const Topology& topology, std::vector<std::uint32_t> nodes, std::uint32_t first) {
    Communicator communicator{.channels = {{}, {}}};
    for (const std::uint32_t node : nodes) {
        for (std::uint32_t i = 0; i < 4; ++i) {
            communicator.channels[0].push_back(RankId(node * topology.ranks_per_node + first + i));
        }
    }
    communicator.channels[1].assign(communicator.channels[0].rbegin(), communicator.channels[0].rend());
    return communicator;
}

const ProtocolCost protocol{
    .step_in_node = 1_us, .step_across = 3_us, .efficiency_in_node = 0.5, .efficiency_across = 0.75};

void expect_as_one_by_one(const Topology& topology, const std::vector<Communicator>& communicators) {
    for (const Phase& phase :
         {Phase{.peer = Peer::shift, .repeat = 3, .hops = 3}, Phase{.peer = Peer::exchange, .distance = 4, .span = 8},
          Phase{.peer = Peer::listed, .edges = {{1, 0}, {2, 0, 0.5}, {4, 0}, {7, 4, 0.25}}}}) {
        for (const double share : {0.0, 0.5}) {
            PhaseTraffic together(topology, protocol);
            std::map<std::uint32_t, double> loads;
            Seconds latency;
            for (const Communicator& communicator : communicators) {
                together.add(phase, communicator);
                PhaseTraffic one(topology, protocol);
                one.add(phase, communicator);
                for (const auto& [link, load] : loads_of(one.pattern(share))) loads[link] += load;
                latency = std::max(latency, one.latency());
            }
            EXPECT_EQ(loads_of(together.pattern(share)), loads);
            EXPECT_EQ(together.latency(), latency);
        }
    }
}

TEST(inside_nodes, are_shared_by_communicators_on_other_nodes) {
    const Topology topology = Machine::load("frontier").topology(300);
    std::mt19937 random(1);
    std::vector<Communicator> communicators;
    for (int i = 0; i < 40; ++i) {
        const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
        const std::uint32_t node = below(300), other = (node + 1 + below(299)) % 300;
        communicators.push_back(on(topology, {node, other}, random() % 2 * 4));
    }
    expect_as_one_by_one(topology, communicators);
}

// Two nodes of one are one of the other; other accelerators; members of two nodes that take turns.
TEST(inside_nodes, are_not_shared_by_communicators_that_sit_otherwise) {
    const Topology topology = Machine::load("frontier").topology(300);
    Communicator folded = on(topology, {5, 5}, 0), mixed = on(topology, {2, 3}, 0);
    for (std::vector<RankId>& channel : mixed.channels) std::swap(channel[1], channel[6]);
    expect_as_one_by_one(topology, {on(topology, {0, 200}, 0), folded, on(topology, {7, 8}, 3), mixed});

    const Communicator base = on(topology, {0, 200}, 0);
    const InsideNodes inside(topology, base, {}, {});
    EXPECT_EQ(inside.nodes_of(on(topology, {9, 4}, 0)), (std::vector<std::uint32_t>{9, 4}));
    EXPECT_EQ(inside.nodes_of(folded), std::nullopt);
    EXPECT_EQ(inside.nodes_of(on(topology, {9, 4}, 3)), std::nullopt);
    EXPECT_EQ(inside.nodes_of(mixed), std::nullopt);
    EXPECT_EQ(inside.nodes_of({.channels = {base.channels[0]}}), std::nullopt);
}

}  // namespace
}  // namespace weft
