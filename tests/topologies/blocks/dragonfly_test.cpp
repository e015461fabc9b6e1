// The dragonfly of Frontier: counts, minimal routes, and how evenly bundles of global links are used.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/topologies/route_walk.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

constexpr std::uint32_t nodes_per_group = 128, dies = 8, groups = 74, switches = 32, bundle = 4;

class dragonfly : public testing::Test {
  protected:
    static void SetUpTestSuite() { frontier_ = std::make_unique<Topology>(Machine::load("frontier").topology(9408)); }
    static void TearDownTestSuite() { frontier_.reset(); }

    static std::uint32_t count(const Topology& topology, std::string_view name) {
        std::uint32_t links = 0;
        for (LinkId link{}; index(link) < topology.links(); link = next(link))
            links += topology.link(link).name == name;
        return links;
    }
    static RankId rank(std::uint32_t node, std::uint32_t die) { return RankId(node * dies + die); }
    static LinkId global_of(const Route& route) {
        for (const LinkId link : route.links()) {
            if (frontier_->link(link).name == "slingshot.global") return link;
        }
        ADD_FAILURE() << "no global link";
        return {};
    }

    static std::unique_ptr<Topology> frontier_;
};
std::unique_ptr<Topology> dragonfly::frontier_;

// 74 groups of 32 switches; per switch 31 local links; per pair of groups 4 links; all counted once per direction.
TEST_F(dragonfly, whole_frontier_has_the_published_counts) {
    EXPECT_EQ(frontier_->ranks, 75264U);
    EXPECT_EQ(frontier_->vertices(), 9408U * (8 + 4) + groups * switches);
    EXPECT_EQ(count(*frontier_, "slingshot.nic"), 2U * 4 * 9408);
    EXPECT_EQ(count(*frontier_, "slingshot.local"), groups * switches * 31U);
    EXPECT_EQ(count(*frontier_, "slingshot.global"), groups * (groups - 1) * bundle);
    EXPECT_EQ(count(*frontier_, "infinity_fabric.x4"), 9408U * 4 * 2);
}

TEST_F(dragonfly, bisection_is_half_the_groups_times_the_other_half) {
    EXPECT_EQ(Machine::load("frontier").info().bisection, 37 * 37 * 4 * 25_GBps);
}

// 73 bundles of 4 dealt to 32 switches: 292 = 9 x 32 + 4, so 9 or 10 global ports each ("about 9-10 used").
TEST_F(dragonfly, every_switch_has_nine_or_ten_global_ports) {
    std::map<NodeId, std::uint32_t> ports;
    for (LinkId link{}; index(link) < frontier_->links(); link = next(link)) {
        if (frontier_->link(link).name == "slingshot.global") ++ports[frontier_->tail(link)];
    }
    ASSERT_EQ(ports.size(), groups * switches);
    for (const auto& [vertex, used] : ports) EXPECT_TRUE(used == 9 || used == 10) << index(vertex) << " has " << used;
}

TEST_F(dragonfly, a_node_plugs_its_nics_into_four_switches_and_a_switch_takes_sixteen) {
    std::map<NodeId, std::uint32_t> users;
    for (std::uint32_t node = 0; node < nodes_per_group; ++node) {
        std::set<NodeId> leaves;
        for (std::uint32_t die = 1; die < dies; die += 2) {
            const NodeId leaf = frontier_->head(frontier_->router->uplink(rank(node, die)));
            leaves.insert(leaf);
            ++users[leaf];
        }
        EXPECT_EQ(leaves.size(), 4U);
    }
    EXPECT_EQ(users.size(), switches);
    for (const auto& [leaf, count] : users) EXPECT_EQ(count, 16U);
}

TEST_F(dragonfly, routes_take_at_most_local_global_local) {
    for (std::uint32_t node = 1; node < 9408; node += 37) {
        for (std::uint32_t die = 0; die < dies; ++die) {
            for (std::uint64_t salt = 0; salt < 32; salt += 5) {
                const RankId from = rank(5, 3), to = rank(node, die);
                const Route route = frontier_->route(from, to, salt);
                expect_contiguous(*frontier_, from, to, route);
                const std::vector<std::string> names = classes_along(*frontier_, route);
                const auto globals = std::count(names.begin(), names.end(), "slingshot.global");
                EXPECT_EQ(globals, node < nodes_per_group ? 0 : 1);
                EXPECT_LE(switch_hops(*frontier_, route), node < nodes_per_group ? 1U : 3U);
            }
        }
    }
}

TEST_F(dragonfly, both_ways_of_a_pair_share_a_cable) {
    for (std::uint64_t salt = 0; salt < 16; ++salt) {
        const LinkId there = global_of(frontier_->route(rank(3, 5), rank(700, 2), salt));
        const LinkId back = global_of(frontier_->route(rank(700, 2), rank(3, 5), salt));
        EXPECT_EQ(frontier_->tail(there), frontier_->head(back));
        EXPECT_EQ(frontier_->head(there), frontier_->tail(back));
    }
}

TEST_F(dragonfly, salts_spread_one_pair_over_the_whole_bundle) {
    std::map<LinkId, std::uint32_t> used;
    for (std::uint64_t salt = 0; salt < 16; ++salt) ++used[global_of(frontier_->route(rank(3, 5), rank(700, 2), salt))];
    ASSERT_EQ(used.size(), bundle);
    for (const auto& [link, times] : used) EXPECT_EQ(times, 4U);
}

TEST_F(dragonfly, the_four_nics_of_two_nodes_use_the_four_links_of_the_bundle) {
    std::set<LinkId> used;
    for (std::uint32_t die = 1; die < dies; die += 2)
        used.insert(global_of(frontier_->route(rank(9, die), rank(333, die))));
    EXPECT_EQ(used.size(), bundle);
}

// Every node of a group sends to its counterpart in another: 128 x 4 flows over 4 links.
class dragonfly_shift : public dragonfly, public testing::WithParamInterface<std::uint32_t> {};
TEST_P(dragonfly_shift, a_shift_by_whole_groups_loads_every_global_link_alike) {
    std::map<LinkId, std::uint32_t> used;
    const std::uint32_t to_group = GetParam();
    for (std::uint32_t node = 0; node < nodes_per_group; ++node) {
        for (std::uint32_t die = 1; die < dies; die += 2) {
            ++used[global_of(frontier_->route(rank(node, die), rank(to_group * nodes_per_group + node, die)))];
        }
    }
    ASSERT_EQ(used.size(), bundle);
    for (const auto& [link, times] : used) EXPECT_EQ(times, nodes_per_group);
}
INSTANTIATE_TEST_SUITE_P(groups, dragonfly_shift, testing::Values(1U, 2U, 7U, 40U, 72U));

// Detours inside a group lead by any of its switches.
TEST_F(dragonfly, a_part_inside_one_group_builds_that_group) {
    for (const std::uint32_t nodes : {2U, 17U, 128U}) {
        EXPECT_EQ(Machine::load("frontier").topology(nodes).vertices(), nodes * 12 + switches);
    }
    EXPECT_EQ(Machine::load("frontier").topology(129).vertices(), 129U * 12 + groups * switches);
}

}  // namespace
}  // namespace weft
