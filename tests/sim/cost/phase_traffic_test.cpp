#include "sim/cost/phase_traffic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <algorithm>
#include <limits>

#include "tests/sim/collective/members.hpp"
#include "tests/sim/collective/toy_crossbar.hpp"

namespace weft {
namespace {

using testing_support::first_ranks;
using testing_support::loads_of;
using testing_support::ranks;
using testing_support::toy_crossbar;

const ProtocolCost free_protocol{};
constexpr Phase ring_round{.peer = Peer::shift, .repeat = 3, .hops = 3};

TEST(phase_traffic, a_ring_loads_every_link_of_its_members_once) {
    const Topology topology = toy_crossbar(4, 1, 10_GBps, 1_us);
    PhaseTraffic traffic(topology, free_protocol);
    traffic.add(ring_round, {{first_ranks(4)}});
    const Pattern pattern = traffic.pattern();
    ASSERT_EQ(pattern.loads.size(), 8u);
    for (const LinkLoad& load : pattern.loads) EXPECT_EQ(load.load, 1.0);
    EXPECT_TRUE(std::is_sorted(pattern.loads.begin(), pattern.loads.end(),
                               [](const LinkLoad& a, const LinkLoad& b) { return a.link < b.link; }));
    EXPECT_EQ(pattern.alone, 10_GBps);
    EXPECT_EQ(pattern.cap.value, std::numeric_limits<double>::infinity());
}

TEST(phase_traffic, channels_split_the_message_and_add_up_on_shared_links) {
    const Topology topology = toy_crossbar(3, 1, 10_GBps, 1_us);
    PhaseTraffic traffic(topology, free_protocol);
    traffic.add(ring_round, {{ranks({0, 1, 2}), ranks({2, 1, 0})}});
    for (const LinkLoad& load : traffic.pattern().loads) EXPECT_EQ(load.load, 1.0);  // twice a half
}

TEST(phase_traffic, a_protocol_that_reaches_half_the_bandwidth_doubles_the_load) {
    const Topology topology = toy_crossbar(4, 2, 10_GBps, 1_us);
    const ProtocolCost protocol{.efficiency_in_node = 0.5, .efficiency_across = 0.25};
    PhaseTraffic traffic(topology, protocol);
    traffic.add({.peer = Peer::chain}, {{ranks({0, 1, 2})}});  // 0 to 1 in a node, 1 to 2 across
    const Pattern pattern = traffic.pattern();
    EXPECT_THAT(loads_of(pattern), testing::ElementsAre(testing::Pair(0, 2.0), testing::Pair(2, 4.0),
                                                        testing::Pair(3, 2.0), testing::Pair(5, 4.0)));
    EXPECT_EQ(pattern.alone, 2.5_GBps);
}

TEST(phase_traffic, sister_groups_load_shared_links_but_leave_the_lone_rate) {
    const Topology topology = toy_crossbar(4, 1, 12_GBps, 1_us);
    PhaseTraffic traffic(topology, free_protocol);
    traffic.add({.peer = Peer::chain}, {{ranks({0, 1})}});
    traffic.add({.peer = Peer::chain}, {{ranks({0, 2})}});
    traffic.add({.peer = Peer::chain}, {{ranks({0, 3})}});
    const Pattern pattern = traffic.pattern();
    EXPECT_EQ(loads_of(pattern).at(0), 3.0);
    EXPECT_EQ(loads_of(pattern).at(3), 1.0);
    EXPECT_EQ(pattern.alone, 12_GBps);
}

TEST(phase_traffic, an_all_to_all_loads_links_with_every_peer) {
    const Topology topology = toy_crossbar(5, 1, 12_GBps, 1_us);
    PhaseTraffic traffic(topology, free_protocol);
    traffic.add({.peer = Peer::all, .fraction = 0.2}, {{first_ranks(5)}});
    const Pattern pattern = traffic.pattern();
    for (const LinkLoad& load : pattern.loads) EXPECT_EQ(load.load, 4.0);
    EXPECT_EQ(pattern.alone, 3_GBps);
    EXPECT_DOUBLE_EQ(traffic.latency().value, 2e-6);  // all messages at once
}

TEST(phase_traffic, a_pipeline_that_fills_and_drains_cannot_use_the_whole_bandwidth) {
    const Topology topology = toy_crossbar(3, 1, 10_GBps, 1_us);
    PhaseTraffic traffic(topology, free_protocol);
    traffic.add({.peer = Peer::chain, .duty = 0.8}, {{first_ranks(3)}});
    EXPECT_EQ(traffic.pattern().cap, 8_GBps);
    EXPECT_EQ(traffic.pattern().alone, 8_GBps);
}

// Links of 10 GB/s, of which the protocol gets 4 in a node and 3 where the group spans nodes, to all peers together.
TEST(phase_traffic, a_member_sends_no_faster_than_its_protocol) {
    const Topology topology = toy_crossbar(8, 4, 10_GBps, 1_us);
    const ProtocolCost protocol{.rate_in_node = 4_GBps, .rate_across = 3_GBps};
    const auto pattern_of = [&](const Phase& phase, std::uint32_t members) {
        PhaseTraffic traffic(topology, protocol);
        traffic.add(phase, {{first_ranks(members)}});
        return traffic.pattern();
    };
    EXPECT_EQ(pattern_of(ring_round, 4).cap, 4_GBps);
    EXPECT_EQ(pattern_of(ring_round, 4).alone, 4_GBps);
    EXPECT_EQ(pattern_of(ring_round, 5).cap, 3_GBps);
    EXPECT_EQ(pattern_of({.peer = Peer::chain, .duty = 0.5}, 5).cap, 1.5_GBps);
    EXPECT_EQ(pattern_of({.peer = Peer::all, .fraction = 0.2}, 4).cap.value, 4e9 / 3.0);
    EXPECT_EQ(pattern_of({.peer = Peer::all, .fraction = 0.2}, 7).alone, 0.5_GBps);
}

// Ranks 0 1 | 2 3 on two nodes; in a node a message takes 1 + 2 us, across 5 + 2 us. The ring 0 1 2 3 has messages of
// 3 7 3 7 us: the worst three in a row are 7 + 3 + 7, the worst five 7 + 3 + 7 + 3 + 7.
TEST(phase_traffic, latency_is_that_of_the_worst_messages_in_a_row) {
    const Topology topology = toy_crossbar(4, 2, 10_GBps, 1_us);
    const ProtocolCost protocol{.step_in_node = 1_us, .step_across = 5_us};
    const auto latency = [&](const Phase& phase) {
        PhaseTraffic traffic(topology, protocol);
        traffic.add(phase, {{first_ranks(4)}});
        return traffic.latency().value * 1e6;
    };
    EXPECT_NEAR(latency({.peer = Peer::shift, .repeat = 3, .hops = 3}), 17.0, 1e-9);
    EXPECT_NEAR(latency({.peer = Peer::shift, .repeat = 5, .hops = 5}), 27.0, 1e-9);
    EXPECT_NEAR(latency({.peer = Peer::chain, .repeat = 9, .hops = 3}), 13.0, 1e-9);
    EXPECT_NEAR(latency({.peer = Peer::exchange, .distance = 1, .span = 4}), 3.0, 1e-9);
    EXPECT_NEAR(latency({.peer = Peer::exchange, .distance = 2, .span = 4}), 7.0, 1e-9);
    // Distance 2 makes two rings of two, 0 2 and 1 3, all across.
    EXPECT_NEAR(latency({.peer = Peer::shift, .distance = 2, .repeat = 3, .hops = 3}), 21.0, 1e-9);
}

TEST(phase_traffic, latency_is_that_of_the_slowest_group) {
    const Topology topology = toy_crossbar(4, 2, 10_GBps, 0_us);
    const ProtocolCost protocol{.step_in_node = 1_us, .step_across = 5_us};
    PhaseTraffic traffic(topology, protocol);
    traffic.add({.peer = Peer::chain}, {{ranks({0, 1})}});
    EXPECT_DOUBLE_EQ(traffic.latency().value, 1e-6);
    traffic.add({.peer = Peer::chain}, {{ranks({1, 2})}});
    traffic.add({.peer = Peer::chain}, {{ranks({2, 3})}});
    EXPECT_DOUBLE_EQ(traffic.latency().value, 5e-6);
}

// Five ranks, 0 1 | 2 3 | 4: rank 4 posts four messages across, 4 x 2 us; the others one in the node and three across,
// 0.5 + 3 x 2 us. The last message then takes its 5 us.
TEST(phase_traffic, messages_to_all_are_posted_one_after_another) {
    const Topology topology = toy_crossbar(5, 2, 10_GBps, 0_us);
    const ProtocolCost protocol{
        .step_in_node = 1_us, .step_across = 5_us, .post_in_node = Seconds{0.5e-6}, .post_across = 2_us};
    PhaseTraffic traffic(topology, protocol);
    traffic.add({.peer = Peer::all}, {{ranks({0, 1, 2, 3, 4})}});
    EXPECT_DOUBLE_EQ(traffic.latency().value, 13e-6);
    PhaseTraffic one_peer(topology, protocol);
    one_peer.add({.peer = Peer::shift}, {{ranks({0, 1, 2, 3, 4})}});
    EXPECT_DOUBLE_EQ(one_peer.latency().value, 5e-6);
}

// Against a twin that adds into a plain array, for any groups and channels.
RC_GTEST_PROP(phase_traffic, loads_are_the_sum_over_all_messages, ()) {
    const Topology topology = toy_crossbar(16, 4, 10_GBps, 1_us);
    const ProtocolCost protocol{.efficiency_in_node = 0.5, .efficiency_across = 1.0};
    const auto groups = *rc::gen::inRange(1, 6);
    const auto channels = *rc::gen::inRange(1, 4);
    PhaseTraffic traffic(topology, protocol);
    std::vector<double> naive(32);
    for (int g = 0; g < groups; ++g) {
        const auto size = static_cast<std::size_t>(*rc::gen::inRange(2, 17));
        Communicator communicator;
        for (int c = 0; c < channels; ++c) {
            std::vector<RankId> order = first_ranks(16);
            for (std::size_t i = 15; i > 0; --i) {
                std::swap(order[i], order[static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(i) + 1))]);
            }
            order.resize(size);
            for (std::size_t i = 0; i < size; ++i) {
                const RankId to = order[(i + 1) % size];
                const double load = (topology.node_of(order[i]) == topology.node_of(to) ? 2.0 : 1.0) / channels;
                naive[2 * index(order[i])] += load;
                naive[2 * index(to) + 1] += load;
            }
            communicator.channels.push_back(order);
        }
        traffic.add(ring_round, communicator);
    }
    const auto loads = loads_of(traffic.pattern());
    for (std::uint32_t link = 0; link < 32; ++link) {
        RC_ASSERT(loads.contains(link) == (naive[link] > 0.0));
        if (naive[link] > 0.0) RC_ASSERT(std::abs(loads.at(link) - naive[link]) < 48 * 1e-12);
    }
}

}  // namespace
}  // namespace weft
