// The switches of every shipped machine as a mesh: what a router says of it is what its routes do.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "sim/topology/route_tree.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

class mesh : public testing::TestWithParam<std::string> {
  protected:
    bool is_between_switches(LinkId link) const { return link >= tree.mesh().first && link < tree.mesh().end; }
    RankId draw() { return RankId(static_cast<std::uint32_t>(random() % topology.ranks)); }

    Machine machine = Machine::load(GetParam());
    Topology topology = machine.topology(std::min(machine.info().nodes, 600U));
    const RouteTree& tree = *topology.router->mesh();
    std::mt19937 random{1};
};

TEST_P(mesh, has_all_links_that_join_switches) {
    EXPECT_TRUE(tree.has_mesh());
    EXPECT_EQ(tree.tiers(), 1U);
    for (std::uint32_t i = 0; i < topology.links(); ++i) {
        ASSERT_EQ(is_between_switches(LinkId{i}), topology.wiring->joins_switches(LinkId{i}));
    }
}

TEST_P(mesh, lies_between_the_ends_of_every_route) {
    for (int i = 0; i < 20'000; ++i) {
        const RankId from = draw(), to = i % 2 == 0 ? draw() : RankId(static_cast<std::uint32_t>(from) ^ 16U);
        if (index(to) >= topology.ranks || topology.node_of(from) == topology.node_of(to)) continue;
        const Route leaving = tree.leaving(from, to), entering = tree.entering(from, to);
        const auto expect_between = [&](const Route& route) {
            ASSERT_GE(route.hops, leaving.hops + entering.hops);
            const auto all = route.links();
            const auto between = all.subspan(leaving.hops, all.size() - leaving.hops - entering.hops);
            ASSERT_TRUE(std::ranges::equal(leaving.links(), all.first(leaving.hops)));
            ASSERT_TRUE(std::ranges::equal(entering.links(), all.last(entering.hops)));
            ASSERT_TRUE(std::ranges::all_of(between, [&](LinkId link) { return is_between_switches(link); }));
            ASSERT_EQ(tree.climb(from, to).turn, between.empty() ? 0U : 1U);
        };
        expect_between(topology.route(from, to, random() % 3));
        for (std::uint32_t detour = 0; detour < topology.router->detours(from, to); ++detour) {
            expect_between(topology.router->detour(from, to, random() % 3, detour));
        }
    }
}

// From every multiple on: of those nodes no message between NICs of one number meets a link between switches.
TEST_P(mesh, has_as_many_nodes_on_a_switch_as_it_says) {
    const std::uint32_t n = topology.ranks_per_node, nodes = topology.ranks / n, on_switch = tree.nodes_per_switch();
    for (std::uint32_t node = 0; node < nodes; ++node) {
        const std::uint32_t first = node / on_switch * on_switch;
        for (std::uint32_t local = 0; local < n && node > first; ++local) {
            const RankId from{first * n + local}, to{node * n + local};
            ASSERT_EQ(tree.climb(from, to).turn, 0U) << first << " to " << node;
            ASSERT_EQ(topology.router->detours(from, to), 0U);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(machines, mesh, testing::ValuesIn(machine_names()), [](const auto& test) {
    std::string name = test.param;
    std::ranges::replace(name, '-', '_');
    return name;
});

}  // namespace
}  // namespace weft
