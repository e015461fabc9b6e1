// Detours of a dragonfly, and what valiant and adaptive routing make of them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sim/cost/phase_traffic.hpp"
#include "tests/topologies/all_pairs.hpp"
#include "tests/topologies/small_machine.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

// 4 groups of 4 nodes, each with 4 switches: NIC i on switch i of the chassis of two nodes. One cable per bundle.
const std::string network = R"({ "kind": "dragonfly", "source": "test", "nodes_per_group": 4, "switches_per_group": 4,
    "nodes_per_chassis": 2, "switches_per_chassis": 2, "global_links": 1, "radix": 16,
    "port": "port", "local": "up", "global": "core" })";

Machine small() { return Machine::read(Document::parse("small.json", small_machine(network))); }

// The groups whose switches a way passes, of `switches` each.
std::set<std::uint32_t> groups_along(const Topology& topology, const Route& route, std::uint32_t switches) {
    std::uint32_t first = 0;
    while (topology.node_kind(NodeId{first}) != NodeKind::network_switch) ++first;
    std::set<std::uint32_t> groups;
    for (const LinkId link : route.links()) {
        const auto tail = static_cast<std::uint32_t>(topology.tail(link));
        if (tail >= first) groups.insert((tail - first) / switches);
    }
    return groups;
}

TEST(dragonfly_detours, are_sound) { expect_sound_routes(small().topology(16)); }

TEST(dragonfly_detours, lead_through_one_other_group_each) {
    const Topology topology = Machine::load("frontier").topology(512);
    for (std::uint32_t node = 128; node < 512; node += 41) {
        const RankId from{3}, to{node * 8 + node % 8};
        ASSERT_EQ(topology.router->detours(from, to), 4U);
        const std::uint32_t there = node / 128;
        std::set<std::uint32_t> between;
        for (std::uint32_t i = 0; i < 4; ++i) {
            const Route detour = topology.router->detour(from, to, node, i);
            expect_simple(topology, from, to, detour);
            EXPECT_LE(switch_hops(topology, detour), 5U);
            std::set<std::uint32_t> groups = groups_along(topology, detour, 32);
            EXPECT_EQ(groups.size(), 3U);
            EXPECT_EQ(groups.erase(0) + groups.erase(there), 2U);
            between.insert(groups.begin(), groups.end());
        }
        EXPECT_EQ(between.size(), 4U);
    }
}

// A uniform choice: of 72 groups, each is passed 1/72 of 4 x 4096 times, give or take five standard deviations.
TEST(dragonfly_detours, pass_every_other_group_alike) {
    const Topology topology = Machine::load("frontier").topology(512);
    std::map<std::uint32_t, std::uint32_t> times;
    for (std::uint64_t salt = 0; salt < 4096; ++salt) {
        for (std::uint32_t i = 0; i < 4; ++i) {
            for (const std::uint32_t group :
                 groups_along(topology, topology.router->detour(RankId{0}, RankId{3000}, salt, i), 32)) {
                ++times[group];
            }
        }
    }
    times.erase(0), times.erase(3000 / 1024);
    ASSERT_EQ(times.size(), 72U);
    for (const auto& [group, count] : times) EXPECT_NEAR(count, 4 * 4096 / 72.0, 5 * std::sqrt(4 * 4096 / 72.0));
}

TEST(dragonfly_detours, need_a_third_group) {
    const std::string two_groups = replaced(network, R"("nodes_per_group": 4)", R"("nodes_per_group": 8)");
    const std::string wide = replaced(two_groups, R"("nodes_per_chassis": 2)", R"("nodes_per_chassis": 4)");
    const Topology topology = Machine::read(Document::parse("small.json", small_machine(wide))).topology(16);
    EXPECT_EQ(topology.router->detours(RankId{0}, RankId{31}), 0U);
    EXPECT_EQ(small().topology(5).router->detours(RankId{0}, RankId{8}),
              2U);  // through groups without nodes of the job
}

// The switches of a group are joined all-to-all, each pair by one cable.
TEST(dragonfly_detours, pass_a_third_switch_inside_a_group) {
    const Topology topology = small().topology(16);
    const RankId from{0}, to{7};  // switches 0 and 3
    ASSERT_EQ(topology.router->detours(from, to), 2U);
    std::set<LinkId> first;
    for (std::uint32_t i = 0; i < 2; ++i) {
        const Route detour = topology.router->detour(from, to, 0, i);
        expect_simple(topology, from, to, detour);
        EXPECT_EQ(switch_hops(topology, detour), 2U);
        first.insert(detour.hop[3]);
    }
    EXPECT_EQ(first.size(), 2U);
    EXPECT_EQ(topology.router->detours(from, RankId{2}), 0U);  // the same switch
}

BytesPerSecond slowest(const Topology& topology, const Pattern& pattern) {
    BytesPerSecond least{std::numeric_limits<double>::infinity()};
    for (const LinkLoad& load : pattern.loads) least = std::min(least, topology.link(load.link).bandwidth / load.load);
    return least;
}

// The rate of the slowest of messages that are sent all at once, each as fast as the others.
BytesPerSecond rate(const Topology& topology, std::uint32_t senders, std::uint32_t distance) {
    const ProtocolCost protocol{.algorithm = "ring", .protocol = "Simple"};
    PhaseTraffic traffic(topology, protocol);
    for (std::uint32_t i = 0; i < senders; ++i) {
        traffic.add({.peer = Peer::chain}, Communicator{.channels = {{RankId{i}, RankId{i + distance}}}});
    }
    return slowest(topology, traffic.pattern());
}

// All 8 ranks of group 0 send to group 1, over one cable of 10 GB/s. Of the bytes, a share q goes round by groups 2
// and 3, so the cables carry 8 (1 - q), 4 q and 4 q: with q = 2/3 each carries 8/3, a third of 8. The local link
// between the two gateways of a group in the middle carries 4 q too, all others no more than 2.
TEST(dragonfly_detours, adaptive_routing_frees_a_hot_pair_of_groups) {
    const Machine machine = small();
    EXPECT_NEAR(rate(machine.topology(16, {.routing = Routing::minimal}), 8, 8).value, 10e9 / 8, 1);
    EXPECT_NEAR(rate(machine.topology(16, {.routing = Routing::adaptive}), 8, 8).value, 10e9 / 8 * 3, 1e4);
    EXPECT_NEAR(rate(machine.topology(16, {.routing = Routing::valiant}), 8, 8).value, 10e9 / 4, 1);
}

// One message from each of four nodes to the next, round: in one group no link carries more than one of them, and the
// ports of 10 GB/s decide. One node per group, each message has a global cable to itself: of that, others leave a
// quarter.
TEST(background, slows_a_job_that_is_spread_over_groups_and_no_other) {
    const Machine machine = small();
    const auto ring = [&](const std::vector<std::uint32_t>& nodes, double share) {
        const Topology topology =
            machine.topology(4, {.routing = Routing::minimal, .placement = nodes, .background = {{"core", share}}});
        const ProtocolCost protocol{.algorithm = "ring", .protocol = "Simple"};
        PhaseTraffic traffic(topology, protocol);
        traffic.add({.peer = Peer::shift}, Communicator{.channels = {{RankId{0}, RankId{2}, RankId{4}, RankId{6}}}});
        return slowest(topology, traffic.pattern());
    };
    const std::vector<std::uint32_t> packed{0, 1, 2, 3}, spread{0, 4, 8, 12};
    EXPECT_EQ(ring(packed, 0.0), 10_GBps);
    EXPECT_EQ(ring(packed, 0.75), 10_GBps);
    EXPECT_EQ(ring(spread, 0.0), 10_GBps);
    EXPECT_EQ(ring(spread, 0.75), 2.5_GBps);
}

// Inside a group, and where the ports are the bottleneck already, nothing is gained.
TEST(dragonfly_detours, adaptive_routing_leaves_the_short_way_alone_where_it_is_free) {
    const Machine machine = small();
    for (const std::uint32_t distance : {2U, 8U}) {
        const BytesPerSecond minimal = rate(machine.topology(16, {.routing = Routing::minimal}), 1, distance);
        EXPECT_EQ(rate(machine.topology(16, {.routing = Routing::adaptive}), 1, distance), minimal);
    }
}

}  // namespace
}  // namespace weft
