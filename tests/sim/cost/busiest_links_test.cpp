// What passes over links leave out bounds nothing. Twin: every link is asked.
#include "sim/cost/busiest_links.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/topology/listed.hpp"

namespace weft {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();

// Links of several bandwidths, every third of them from a NIC into the network, the others between its switches.
Topology machine(std::uint32_t links) {
    Topology topology;
    testing_support::Listed listed;
    const NodeId nic = listed.add_vertex(NodeKind::nic);
    const NodeId near = listed.add_vertex(NodeKind::network_switch);
    const NodeId far = listed.add_vertex(NodeKind::network_switch);
    for (const BytesPerSecond each : {10_GBps, 12_GBps, 25_GBps, 100_GBps}) {
        topology.classes.push_back({std::to_string(each.value), each, each, 1_us});
    }
    for (std::uint32_t i = 0; i < links; ++i) {
        listed.add_link(i % 3 == 0 ? nic : near, i % 3 == 0 ? near : far, LinkClassId(i % 4));
    }
    std::move(listed).add_to(topology);
    return topology;
}

std::uint32_t below(std::uint32_t n, std::mt19937& random) { return static_cast<std::uint32_t>(random() % n); }

// Few loads, so that many links are equally busy.
LinkLoads random_loads(std::mt19937& random, std::uint32_t links, std::initializer_list<RouteKind> ways) {
    LinkLoads loads;
    for (std::uint32_t link = 0; link < links; ++link) {
        for (const RouteKind kind : ways) {
            if (below(3, random) == 0) loads.add(LinkId{link}, kind, LinkLoads::units(0.25 + 0.25 * below(4, random)));
        }
        if (link % 3 == 0) loads.add(LinkId{link}, RouteKind::only, LinkLoads::units(0.25 * below(4, random)));
    }
    return loads;
}

double slowest(const LinkLoads& loads, const Topology& topology, double share) {
    double least = none;
    loads.for_each([&](LinkId id, const LinkLoads::Cell& cell) {
        if (cell.at(share) > 0.0) least = std::min(least, topology.link(id).bandwidth.value / cell.at(share));
    });
    return least;
}

TEST(busiest_links, settle_what_all_links_do) {
    std::mt19937 random(1);
    for (int i = 0; i < 500; ++i) {
        const std::uint32_t count = 1 + below(200, random);
        const Topology topology = machine(count);
        const LinkLoads loads = random_loads(random, count, {RouteKind::minimal, RouteKind::detour});
        std::vector<Line> lines(1);
        loads.for_each([&](LinkId id, const LinkLoads::Cell& cell) {
            const double bandwidth = topology.link(id).bandwidth.value;
            lines.push_back(
                {cell.at(0.0) / bandwidth, (cell[RouteKind::detour] - cell[RouteKind::minimal]) / bandwidth});
        });
        BusiestLinks busiest(topology);
        busiest.find(random_loads(random, count, {RouteKind::minimal}));  // what was found before is forgotten
        busiest.find(loads);
        const double share = busiest.best_share();
        ASSERT_DOUBLE_EQ(share, lowest_point(lines));
        for (const double q : {0.0, share, 1.0}) ASSERT_DOUBLE_EQ(busiest.rate(q).value, slowest(loads, topology, q));
    }
}

TEST(busiest_links, tell_whether_detours_can_relieve_the_busiest) {
    std::mt19937 random(2);
    int gains = 0;
    for (int i = 0; i < 500; ++i) {
        const std::uint32_t count = 1 + below(60, random);
        const Topology topology = machine(count);
        const LinkLoads loads = random_loads(random, count, {RouteKind::minimal});
        double relieved = 0.0, other = 0.0;
        loads.for_each([&](LinkId id, const LinkLoads::Cell& cell) {
            double& most = cell[RouteKind::minimal] > 0.0 && index(id) % 3 != 0 ? relieved : other;
            most = std::max(most, cell.at(0.0) / topology.link(id).bandwidth.value);
        });
        const StraightTraffic straight(loads, topology);
        ASSERT_EQ(straight.may_gain(), relieved > other);
        ASSERT_EQ(straight.rate().value, slowest(loads, topology, 0.0));
        gains += relieved > other ? 1 : 0;
    }
    EXPECT_GT(gains, 50);
    EXPECT_LT(gains, 450);
}

TEST(busiest_links, of_no_load_are_none) {
    const Topology topology = machine(3);
    BusiestLinks busiest(topology);
    busiest.find({});
    EXPECT_EQ(busiest.best_share(), 0.0);
    EXPECT_EQ(busiest.rate(0.0).value, none);
    EXPECT_EQ(StraightTraffic({}, topology).rate().value, none);
}

}  // namespace
}  // namespace weft
