// Rings on real machines: what they carry together against closed bounds, and how they share links and NICs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "tests/topologies/route_walk.hpp"
#include "topologies/channels.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

std::map<LinkId, std::uint32_t> loads(const Topology& topology, const Communicator& communicator) {
    std::map<LinkId, std::uint32_t> loads;
    for (const std::vector<RankId>& ring : communicator.channels) {
        for (std::size_t i = 0; i < ring.size(); ++i) {
            const Route route = topology.route(ring[i], ring[(i + 1) % ring.size()]);
            for (const LinkId link : route.links()) ++loads[link];
        }
    }
    return loads;
}

// What all channels carry together, by specified bandwidth: channels / max(load / bandwidth).
BytesPerSecond aggregate(const Topology& topology, const Communicator& communicator) {
    double slowest = 0;
    for (const auto& [link, load] : loads(topology, communicator)) {
        slowest = std::max(slowest, load / topology.link(link).nominal.value);
    }
    return {static_cast<double>(communicator.channels.size()) / slowest};
}

void expect_orders_of(const Communicator& communicator, const std::vector<RankId>& members) {
    const std::set<RankId> expected(members.begin(), members.end());
    ASSERT_FALSE(communicator.channels.empty());
    for (const std::vector<RankId>& ring : communicator.channels) {
        EXPECT_EQ(ring.size(), members.size());
        EXPECT_EQ(std::set<RankId>(ring.begin(), ring.end()), expected);
    }
}

double gigabytes(BytesPerSecond rate) { return rate.value / 1e9; }

TEST(frontier_rings, four_rings_fill_the_one_link_edges_of_a_node) {
    const Topology topology = Machine::load("frontier").topology(1);
    const Communicator rings = ChannelPlanner(topology).lay(ranks(0, 8), Order::rings);
    EXPECT_EQ(rings.channels.size(), 4U);
    EXPECT_NEAR(gigabytes(aggregate(topology, rings)), 200, 1e-9);
    std::uint32_t one_link_edges = 0;
    for (const auto& [link, load] : loads(topology, rings)) {
        if (topology.link(link).name != "infinity_fabric.x1") continue;
        ++one_link_edges;
        EXPECT_EQ(load, 1U) << index(topology.tail(link)) << " to " << index(topology.head(link));
    }
    EXPECT_EQ(one_link_edges, 12U);  // six edges, both directions
}

// RCCL's own rings for this node (rome_model_73): two cycles, each in both directions.
TEST(frontier_rings, are_those_that_rccl_lays) {
    const Topology topology = Machine::load("frontier").topology(1);
    std::vector<std::vector<std::uint32_t>> orders;
    for (const std::vector<RankId>& ring : ChannelPlanner(topology).lay(ranks(0, 8), Order::rings).channels) {
        std::vector<std::uint32_t>& order = orders.emplace_back();
        for (const RankId rank : ring) order.push_back(static_cast<std::uint32_t>(rank));
    }
    EXPECT_EQ(
        orders,
        (std::vector<std::vector<std::uint32_t>>{
            {0, 1, 3, 2, 4, 5, 7, 6}, {0, 6, 7, 5, 4, 2, 3, 1}, {0, 1, 5, 4, 6, 7, 3, 2}, {0, 2, 3, 7, 6, 4, 5, 1}}));
}

struct Group {
    const char* name;
    const char* machine;
    std::uint32_t nodes;
    std::vector<RankId> members;
    std::size_t channels;
    double gigabytes;  // bound of all channels together
};
void PrintTo(const Group& group, std::ostream* out) { *out << group.name; }

class rings : public testing::TestWithParam<Group> {};

TEST_P(rings, reach_the_closed_bound_together) {
    const Group& group = GetParam();
    const Topology topology = Machine::load(group.machine).topology(group.nodes);
    const Communicator communicator = ChannelPlanner(topology).lay(group.members, Order::rings);
    expect_orders_of(communicator, group.members);
    EXPECT_EQ(communicator.channels.size(), group.channels);
    EXPECT_NEAR(gigabytes(aggregate(topology, communicator)), group.gigabytes, 1e-6);
}

std::vector<RankId> joined(std::vector<RankId> a, const std::vector<RankId>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

INSTANTIATE_TEST_SUITE_P(
    groups, rings,
    testing::Values(Group{"package", "frontier", 1, ranks(0, 2), 1, 200},       // four links, each way once
                    Group{"two_packages", "frontier", 1, ranks(0, 4), 2, 100},  // both directions of 0-1-3-2
                    Group{"one_link_pair", "frontier", 1, {RankId(0), RankId(2)}, 1, 50},
                    Group{"even_dies", "frontier", 1, ranks(0, 4, 2), 2, 100},  // 0-2-4-6: links of one and two
                    Group{"two_nodes", "frontier", 2, ranks(0, 16), 4, 100},    // four NICs
                    Group{"sixteen_nodes", "frontier", 16, ranks(0, 128), 4, 100},
                    Group{"across_groups", "frontier", 256, ranks(0, 2048), 4, 100},
                    Group{"one_per_node", "frontier", 16, ranks(3, 16, 8), 1, 25},
                    Group{"package_per_node", "frontier", 4, ranks(0, 2), 1, 200},
                    Group{"package_of_two_nodes", "frontier", 2, joined(ranks(0, 2), ranks(8, 2)), 1, 25},
                    Group{"four_of_two_nodes", "frontier", 2, joined(ranks(0, 4), ranks(8, 4)), 2, 50},
                    Group{"a100_node", "dgx-a100", 1, ranks(0, 8), 1, 300},
                    Group{"a100_pair", "dgx-a100", 1, ranks(2, 2), 1, 300},
                    Group{"a100_two_nodes", "dgx-a100", 2, ranks(0, 16), 8, 200},  // eight NICs
                    Group{"a100_units", "dgx-a100", 40, ranks(0, 320), 8, 200},
                    Group{"h100_four_nodes", "dgx-h100", 4, ranks(0, 32), 8, 400},
                    Group{"h100_one_per_node", "dgx-h100", 8, ranks(0, 8, 8), 1, 50}),
    [](const auto& test) { return std::string(test.param.name); });

class rings_of : public testing::TestWithParam<std::string> {};

// Every NIC carries its share, in each direction, whatever the machine.
TEST_P(rings_of, whole_nodes_use_every_nic_alike) {
    const Machine machine = Machine::load(GetParam());
    const std::uint32_t nodes = std::min(machine.info().nodes, 5U);
    if (nodes < 2) GTEST_SKIP() << "a machine of one node";
    if (machine.info().accelerators_per_node % machine.info().nics_per_node != 0) {
        GTEST_SKIP() << "some NICs serve more ranks than others";
    }
    const Topology topology = machine.topology(nodes);
    const Communicator communicator = ChannelPlanner(topology).lay(ranks(0, topology.ranks), Order::rings);
    expect_orders_of(communicator, ranks(0, topology.ranks));
    if (communicator.channels.size() < machine.info().nics_per_node) {
        GTEST_SKIP() << "the links of the accelerators are full before every NIC has a channel";
    }
    const auto load = loads(topology, communicator);
    std::set<std::uint32_t> up, down;
    for (std::uint32_t r = 0; r < topology.ranks; ++r) {
        const auto count = [&](LinkId link) { return load.contains(link) ? load.at(link) : 0; };
        up.insert(count(topology.router->uplink(RankId(r))));
        down.insert(count(topology.wiring->reverse(topology.router->uplink(RankId(r)))));
    }
    EXPECT_EQ(up.size(), 1U);
    EXPECT_EQ(up, down);
    EXPECT_GT(*up.begin(), 0U);
}

// Between two nodes a channel leaves by the NIC number that it enters the other by: the short way where rails matter.
TEST_P(rings_of, nodes_are_joined_rail_to_rail) {
    const Machine machine = Machine::load(GetParam());
    if (machine.info().nodes < 2 || machine.info().nics_per_node < 2) GTEST_SKIP() << "no rails";
    const Topology topology = machine.topology(2);
    for (const std::vector<RankId>& ring :
         ChannelPlanner(topology).lay(ranks(0, topology.ranks), Order::rings).channels) {
        const std::size_t half = ring.size() / 2;
        EXPECT_EQ(topology.local_of(ring[half - 1]), topology.local_of(ring[half]));
        EXPECT_EQ(topology.local_of(ring.back()), topology.local_of(ring.front()));
        EXPECT_NE(topology.router->uplink(ring[half - 1]), topology.router->uplink(ring.front()));
    }
}

TEST_P(rings_of, repeat_exactly) {
    const Topology topology = Machine::load(GetParam()).topology(3);
    ChannelPlanner planner(topology);
    const Communicator first = planner.lay(ranks(0, topology.ranks), Order::rings);
    EXPECT_EQ(planner.lay(ranks(0, topology.ranks), Order::rings).channels, first.channels);
    EXPECT_EQ(ChannelPlanner(topology).lay(ranks(0, topology.ranks), Order::rings).channels, first.channels);
}

TEST_P(rings_of, whole_machine_is_planned_group_by_group) {
    const Machine machine = Machine::load(GetParam());
    const Topology topology = machine.topology(machine.info().nodes);
    ChannelPlanner planner(topology);
    const std::uint32_t n = topology.ranks_per_node;
    const Communicator model = planner.lay(ranks(0, n), Order::rings);
    for (std::uint32_t node = 1; node < machine.info().nodes; ++node) {
        const Communicator rings = planner.lay(ranks(node * n, n), Order::rings);
        ASSERT_EQ(rings.channels.size(), model.channels.size());
        for (std::size_t c = 0; c < model.channels.size(); ++c) {
            for (std::uint32_t i = 0; i < n; ++i) {
                ASSERT_EQ(index(rings.channels[c][i]), index(model.channels[c][i]) + node * n);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(shipped, rings_of, testing::ValuesIn(machine_names()), [](const auto& test) {
    std::string name = test.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST(channel_planner, uneven_nodes_take_the_channels_of_the_smaller) {
    const Topology topology = Machine::load("frontier").topology(2);
    const std::vector<RankId> members = joined(ranks(0, 8), ranks(10, 2));  // all of node 0, a package of node 1
    const Communicator communicator = ChannelPlanner(topology).lay(members, Order::rings);
    expect_orders_of(communicator, members);
    EXPECT_EQ(communicator.channels.size(), 1U);  // the package has one NIC
}

TEST(channel_planner, nodes_are_passed_in_the_callers_order) {
    const Topology topology = Machine::load("frontier").topology(3);
    const std::vector<RankId> members{RankId(17), RankId(1), RankId(9)};
    EXPECT_EQ(ChannelPlanner(topology).lay(members, Order::rings).channels,
              (std::vector<std::vector<RankId>>{members}));
}

TEST(channel_planner, keeps_the_order_given_where_asked) {
    const Topology topology = Machine::load("frontier").topology(1);
    const std::vector<RankId> members{RankId(5), RankId(2), RankId(7)};
    EXPECT_EQ(ChannelPlanner(topology).lay(members, Order::given).channels,
              (std::vector<std::vector<RankId>>{members}));
    EXPECT_EQ(ChannelPlanner(topology).lay({RankId(4)}, Order::rings).size(), 1U);
}

// The first member of every node of a channel is the one by the NIC, the same on all nodes.
TEST(channel_planner, trees_take_every_node_alike) {
    const Topology topology = Machine::load("frontier").topology(3);
    const Communicator trees = ChannelPlanner(topology).lay(ranks(0, 24), Order::trees);
    ASSERT_EQ(trees.channels.size(), 4U);
    std::set<LinkId> ports;
    for (const std::vector<RankId>& channel : trees.channels) {
        for (std::size_t i = 8; i < 24; ++i)
            EXPECT_EQ(topology.local_of(channel[i]), topology.local_of(channel[i - 8]));
        ports.insert(topology.router->uplink(channel.front()));
    }
    EXPECT_EQ(ports.size(), 4U) << "each channel has a NIC of its own";
}

// Eight data-parallel groups of one rank per node go through four NICs; a group of whole nodes has them to itself.
TEST(channel_planner, tells_groups_that_share_nics) {
    const Topology topology = Machine::load("frontier").topology(4);
    const auto ports = [&](const std::vector<RankId>& members, std::vector<std::uint32_t> busy) {
        return ChannelPlanner(topology, std::move(busy)).lay(members, Order::rings).ports;
    };
    EXPECT_EQ(ports(ranks(0, 4, 8), {}), Ports::shared);
    EXPECT_EQ(ports(ranks(0, 32), {}), Ports::own);
    EXPECT_EQ(ports(ranks(0, 16, 2), {}), Ports::shared) << "the other die of each package is busy";
    EXPECT_EQ(ports(ranks(0, 16, 2), {0, 2, 4, 6}), Ports::own) << "nobody else is there";
    EXPECT_EQ(ports(ranks(0, 4), {}), Ports::own) << "inside a node no NIC is used";

    const Topology dgx = Machine::load("dgx-h100").topology(2);
    EXPECT_EQ(ChannelPlanner(dgx).lay(ranks(0, 2, 8), Order::rings).ports, Ports::own) << "a NIC for every GPU";
}

TEST(group_shape, counts_nodes_and_says_whether_they_hold_equally_many) {
    const Topology topology = Machine::load("frontier").topology(3);
    EXPECT_EQ(shape_of(topology, ranks(0, 24)), (GroupShape{.members = 24, .nodes = 3}));
    EXPECT_EQ(shape_of(topology, ranks(0, 3, 8)), (GroupShape{.members = 3, .nodes = 3}));
    EXPECT_EQ(shape_of(topology, ranks(0, 10)),
              (GroupShape{.members = 10, .nodes = 2, .even = false, .before_last = 8}));
    EXPECT_EQ(shape_of(topology, ranks(6, 10)), (GroupShape{.members = 10, .nodes = 2, .even = false}));
    EXPECT_EQ(shape_of(topology, ranks(0, 10)).per_node(), 1U);
}

Topology with_faults(const Machine& machine, std::uint32_t nodes, std::vector<LinkFault> faults) {
    Fabric fabric;
    fabric.link_faults = std::move(faults);
    return machine.topology(nodes, fabric);
}

// The ports of NICs by which channels leave node 1.
std::set<LinkId> ports_used(const Topology& topology, const Communicator& communicator) {
    std::set<LinkId> used;
    for (const auto& [link, load] : loads(topology, communicator)) {
        const NodeId tail = topology.tail(link);
        const bool port = topology.node_kind(tail) == NodeKind::nic &&
                          topology.node_kind(topology.head(link)) == NodeKind::network_switch;
        const std::size_t vertices = index(topology.endpoint(RankId{topology.ranks_per_node}));
        if (port && index(tail) / vertices == 1) used.insert(link);
    }
    return used;
}

// One of n NICs: n - 1 of them carry more without it than n with it, where it is slower than 1 - 1/n.
TEST(channels_over_faulty_links, pass_a_slow_nic_where_that_carries_more) {
    for (const char* name : {"frontier", "dgx-h100", "perlmutter"}) {
        const Machine machine = Machine::load(name);
        const std::vector<RankId> members = ranks(0, 3 * machine.info().accelerators_per_node);
        for (const double share : {0.3, 0.6, 0.95}) {
            const Topology slow = with_faults(machine, 3, {{.where = NicCable{1, 1}, .share = share}});
            const std::size_t nics = machine.info().nics_per_node - (share < 0.9 ? 1 : 0);
            EXPECT_EQ(ports_used(slow, ChannelPlanner(slow).lay(members, Order::rings)).size(), nics)
                << name << " " << share;
        }
    }
}

// NIC 1 of node 1 is dead. Wherever that node stands among the members, all NICs that it has left are used, and the
// other nodes leave the NIC of that number idle: rails stay apart.
TEST(channels_over_faulty_links, use_the_nics_that_are_left) {
    for (const char* name : {"frontier", "dgx-h100", "perlmutter"}) {
        const Machine machine = Machine::load(name);
        const Topology intact = machine.topology(3);
        const Topology crippled = with_faults(machine, 3, {{.where = NicCable{1, 1}, .share = 0.0}});
        std::vector<RankId> members = ranks(intact.ranks_per_node, intact.ranks_per_node);  // node 1 comes first
        for (const std::uint32_t node : {0U, 2U}) {
            for (const RankId rank : ranks(node * intact.ranks_per_node, intact.ranks_per_node))
                members.push_back(rank);
        }
        const Communicator after = ChannelPlanner(crippled).lay(members, Order::rings);
        expect_orders_of(after, members);
        ASSERT_EQ(after.channels.size(), machine.info().nics_per_node - 1) << name;
        for (const auto& [link, load] : loads(crippled, after)) {
            EXPECT_FALSE(crippled.link(link).name.ends_with(" (dead)")) << name;
        }
        const std::set<LinkId> used = ports_used(crippled, after);
        EXPECT_EQ(used.size(), machine.info().nics_per_node - 1) << name;
    }
}

// Links that have next to nothing left are as slow as each other: what they are occupied by must not overflow.
TEST(el_capitan_rings, do_not_depend_on_how_busy_very_busy_nics_are) {
    const Machine machine = Machine::load("el-capitan");
    const auto laid = [&](double share) {
        const Topology topology = machine.topology(4, {.background = {{"slingshot.nic", share}}});
        return ChannelPlanner(topology).lay(ranks(0, 16), Order::rings).channels;
    };
    const auto busy = laid(0.999);
    EXPECT_EQ(laid(0.9999999), busy);
    EXPECT_EQ(laid(std::nextafter(1.0, 0.0)), busy);
}

}  // namespace
}  // namespace weft
