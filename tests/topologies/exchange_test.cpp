// Complete exchanges counted by switches and cables, against every message on its own route.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "tests/topologies/small_machine.hpp"
#include "topologies/collective_set.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

class Counted final : public ExchangeSink {
  public:
    explicit Counted(const Topology& topology) : topology_(topology) {}
    void add(LinkId link, ExchangeRoute way, double messages, std::uint32_t parts) override {
        ASSERT_GT(messages, 0.0);
        ASSERT_LT(index(link), topology_.links());
        (way == ExchangeRoute::detour ? detours : straight)[link] += messages / parts;
    }
    void reach(ExchangeRoute way, Seconds latency) override { longest[way] = std::max(longest[way], latency); }

    std::map<LinkId, double> straight, detours;
    std::map<ExchangeRoute, Seconds> longest;

  private:
    const Topology& topology_;
};

struct Case {
    const char* machine;
    std::uint32_t nodes;
    bool scattered;
};

Topology topology_of(const Machine& machine, std::uint32_t nodes, bool scattered, std::mt19937& random) {
    Fabric fabric;
    if (scattered) {
        fabric.placement.resize(machine.info().nodes);
        std::iota(fabric.placement.begin(), fabric.placement.end(), 0U);
        std::shuffle(fabric.placement.begin(), fabric.placement.end(), random);
        fabric.placement.resize(nodes);
    }
    return machine.topology(nodes, fabric);
}

std::string name_of(const testing::TestParamInfo<Case>& test) {
    std::string name =
        fmt::format("{}_{}{}", test.param.machine, test.param.nodes, test.param.scattered ? "_scattered" : "");
    std::ranges::replace(name, '-', '_');
    return name;
}

class exchange : public testing::TestWithParam<Case> {};

TEST_P(exchange, loads_links_as_all_its_messages_do) {
    const auto [name, nodes, scattered] = GetParam();
    std::mt19937 random(nodes);
    const Machine machine = Machine::load(name);
    const Topology topology = topology_of(machine, nodes, scattered, random);
    std::vector<RankId> ranks;  // some of each node, in any order
    for (std::uint32_t rank = 0; rank < topology.ranks; ++rank) {
        if (random() % 4 == 0) ranks.push_back(RankId(rank));
    }
    std::shuffle(ranks.begin(), ranks.end(), random);
    for (const std::uint64_t salt : {0U, 13U}) {
        Counted counted(topology);
        ASSERT_TRUE(topology.router->add_exchange(ranks, salt, Router::Routes::straight, counted));
        std::map<LinkId, double> routed;
        std::map<bool, Seconds> longest;
        for (const RankId from : ranks) {
            for (const RankId to : ranks) {
                if (from == to) continue;
                const Route route = topology.route(from, to, salt);
                for (const LinkId link : route.links()) ++routed[link];
                Seconds& most = longest[topology.node_of(from) == topology.node_of(to)];
                most = std::max(most, topology.latency(route));
            }
        }
        EXPECT_EQ(counted.straight, routed);
        EXPECT_NEAR(counted.longest[ExchangeRoute::inside] / Seconds{1e-6}, longest[true] / Seconds{1e-6}, 1e-6);
        const Seconds across = std::max(counted.longest[ExchangeRoute::only], counted.longest[ExchangeRoute::minimal]);
        if (ranks.size() > 64) {
            EXPECT_NEAR(across / Seconds{1e-6}, longest[false] / Seconds{1e-6}, 1e-6);
        } else {
            EXPECT_GE(across / longest[false], 1.0 - 1e-9);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(dragonflies, exchange,
                         testing::Values(Case{"frontier", 2, false}, Case{"frontier", 20, false},
                                         Case{"frontier", 132, false}, Case{"frontier", 100, true},
                                         Case{"alps", 60, true}, Case{"perlmutter", 90, true}, Case{"lumi-g", 64, true},
                                         Case{"aurora", 30, true}),
                         name_of);

// Where all ports of a leaf have the same routes, detours are those that messages take.
TEST_P(exchange, of_trees_takes_the_detours_of_its_messages) {
    const auto [name, nodes, scattered] = GetParam();
    std::mt19937 random(nodes);
    const Machine machine = Machine::load(name);
    const Topology topology = topology_of(machine, nodes, scattered, random);
    if (machine.info().routing != Routing::valiant) return;
    std::vector<RankId> ranks;
    for (std::uint32_t rank = 0; rank < topology.ranks; rank += 1 + std::uint32_t(random() % 3))
        ranks.push_back(RankId(rank));
    Counted counted(topology);
    ASSERT_TRUE(topology.router->add_exchange(ranks, 5, Router::Routes::detours, counted));
    std::map<LinkId, double> routed;
    for (const RankId from : ranks) {
        for (const RankId to : ranks) {
            const std::uint32_t count = from == to ? 0 : topology.router->detours(from, to);
            for (std::uint32_t i = 0; i < count; ++i) {
                const Route route = topology.router->detour(from, to, 5, i);
                for (const LinkId link : route.links()) {
                    if (topology.wiring->joins_switches(link)) routed[link] += 1.0 / count;
                }
            }
        }
    }
    ASSERT_EQ(counted.detours.size(), routed.size());
    for (const auto& [link, messages] : routed) EXPECT_NEAR(counted.detours[link], messages, 1e-9 * messages);
}

INSTANTIATE_TEST_SUITE_P(trees, exchange,
                         testing::Values(Case{"dgx-h100", 40, false}, Case{"dgx-h100", 30, true},
                                         Case{"dgx-a100", 30, true}, Case{"gb200-nvl72", 3, false},
                                         Case{"vista", 100, true}, Case{"tpu-v4", 64, false}),
                         name_of);

// All ways over a third group, or a third switch, with all their cables, on a dragonfly small enough to list them.
TEST(exchange, spreads_detours_over_all_groups_and_cables) {
    const Machine machine = Machine::load("frontier");
    std::mt19937 random(5);
    const Topology topology = topology_of(machine, 12, true, random);
    std::vector<RankId> ranks;
    for (std::uint32_t rank = 0; rank < topology.ranks; rank += 3) ranks.push_back(RankId(rank));
    Counted straight(topology), counted(topology);
    ASSERT_TRUE(topology.router->add_exchange(ranks, 0, Router::Routes::straight, straight));
    ASSERT_TRUE(topology.router->add_exchange(ranks, 0, Router::Routes::detours, counted));
    // What leaves each switch on detours arrives at one: every message once at its first switch and at its last.
    std::map<NodeId, double> out, in, from, to;
    double diverted = 0.0;
    for (const auto& [link, messages] : counted.detours) {
        out[topology.tail(link)] += messages;
        in[topology.head(link)] += messages;
    }
    for (const RankId a : ranks) {
        for (const RankId b : ranks) {
            if (topology.node_of(a) == topology.node_of(b) || topology.router->detours(a, b) == 0) continue;
            const Route route = topology.route(a, b, 0);
            ++from[topology.head(*std::ranges::find_if(route.links(), [&](LinkId link) {
                return topology.node_kind(topology.head(link)) == NodeKind::network_switch;
            }))];
            const auto last = std::ranges::find_if(route.links(), [&](LinkId link) {
                return topology.node_kind(topology.tail(link)) == NodeKind::network_switch &&
                       topology.node_kind(topology.head(link)) != NodeKind::network_switch;
            });
            ++to[topology.tail(*last)];
            ++diverted;
        }
    }
    EXPECT_GT(diverted, 100.0);
    for (const auto& [vertex, messages] : out)
        EXPECT_NEAR(messages - in[vertex], from[vertex] - to[vertex], 1e-9 * diverted);
    // Every cable between two groups without ranks of the job carries nothing; all others of a bundle carry the same.
    double global = 0.0;
    for (const auto& [link, messages] : counted.detours) {
        if (topology.link(link).name == "slingshot.global") global += messages;
    }
    double across = 0.0;
    for (const RankId a : ranks) {
        for (const RankId b : ranks) {
            const Route route = topology.route(a, b, 0);
            across += std::ranges::any_of(route.links(),
                                          [&](LinkId link) { return topology.link(link).name == "slingshot.global"; });
        }
    }
    EXPECT_NEAR(global, 2.0 * across, 1e-9 * across);
}

// At the size of the machine, every cable between groups carries what 1016^2 messages of two groups put on four.
TEST(exchange, of_a_whole_frontier_has_the_closed_form_of_its_wires) {
    const Machine machine = Machine::load("frontier");
    const Topology topology = machine.topology(9408);
    CollectiveSet set(topology, machine.info().library(), {.ranks = 75264, .ranks_per_node = 8});
    const Bytes message{75264.0 * 1048576.0};
    const Choice choice = *set.costs().choose(Collective::all_to_all, message);
    const Seconds time = set.time(choice, message);
    double global = 0.0, nic = 0.0;
    for (const auto& use : set.utilization(choice, message)) {
        const std::string& name = topology.classes[use.link_class].name;
        if (name == "slingshot.global") global = use.utilization;
        if (name == "slingshot.nic") nic = use.utilization;
    }
    EXPECT_GT(global, 0.9);
    EXPECT_LE(global, 1.0 + 1e-9);
    EXPECT_LT(nic, 1.0);
    // Two groups of 128 nodes exchange 1024 x 1024 blocks each way over four cables, which the library's efficiency at
    // endpoints does not slow.
    const double bytes = 1024.0 * 1024.0 * 1048576.0 / 4.0;
    for (LinkClassId id{}; id != topology.classes.end_id(); id = next(id)) {
        if (topology.classes[id].name != "slingshot.global") continue;
        const double least = bytes / topology.classes[id].bandwidth.value;
        EXPECT_GT(time.value, least * (1 - 1e-9));
        EXPECT_LT(time.value, least * 1.1);
    }
}

}  // namespace
}  // namespace weft
