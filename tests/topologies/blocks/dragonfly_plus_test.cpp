// Dragonfly+: a small one in full, and the published counts of Leonardo and JUPITER.
#include <gtest/gtest.h>

#include "sim/io/diagnostics.hpp"
#include "tests/topologies/all_pairs.hpp"
#include "tests/topologies/small_machine.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

// 4 groups of 4 nodes: 2 units of 2 nodes, `rails` leaves each; 2 spines; bundles of 2.
std::string small(const std::string& rails, const std::string& radix = "16") {
    return small_machine(R"({ "kind": "dragonfly_plus", "source": "test", "nodes_per_group": 4, "nodes_per_leaf": 2,
        "rails": )" + rails +
                         R"(, "spines_per_group": 2, "global_links": 2, "radix": )" + radix + R"(,
        "port": "port", "local": "up", "global": "core" })");
}

Machine read(const std::string& text) { return Machine::read(Document::parse("small.json", text)); }

std::uint32_t group_of(RankId rank) { return static_cast<std::uint32_t>(rank) / 8; }

class small_dragonfly_plus : public testing::TestWithParam<const char*> {
  protected:
    Topology topology_ = read(small(GetParam())).topology(16);
};

TEST_P(small_dragonfly_plus, routes_are_sound) { expect_sound_routes(topology_); }

TEST_P(small_dragonfly_plus, routes_take_at_most_three_hops_between_switches) {
    for (std::uint32_t a = 0; a < topology_.ranks; ++a) {
        for (std::uint32_t b = 0; b < topology_.ranks; ++b) {
            const Route route = topology_.route(RankId{a}, RankId{b});
            const bool far = group_of(RankId{a}) != group_of(RankId{b});
            EXPECT_LE(switch_hops(topology_, route), far ? 3U : 2U);
            const std::vector<std::string> classes = classes_along(topology_, route);
            EXPECT_EQ(std::count(classes.begin(), classes.end(), "core"), far ? 1 : 0);
        }
    }
}

// 8 ports of one group send to 8 of another, 64 messages over the 2 cables of the bundle.
TEST_P(small_dragonfly_plus, an_all_to_all_loads_every_global_link_alike) {
    expect_even(topology_, all_to_all(topology_), "core", 32);
}

// A leaf has 4 ports, each of which sends to the 28 behind other leaves by two ways up. (With two rails the messages
// between the rails of one node stay in the node, and what is left does not divide.)
TEST(dragonfly_plus, an_all_to_all_loads_every_local_link_alike) {
    const Topology topology = read(small("1")).topology(16);
    expect_even(topology, all_to_all(topology), "up", 4 * 28 / 2);
}

TEST_P(small_dragonfly_plus, detours_pass_each_of_the_other_groups_once) {
    const RankId from{1}, to{29};
    ASSERT_EQ(topology_.router->detours(from, to), 2U);
    EXPECT_EQ(topology_.router->detours(from, RankId{7}), 1U);  // in a group, the other spine
    std::set<std::uint32_t> passed;
    for (std::uint32_t i = 0; i < 2; ++i) {
        const Route detour = topology_.router->detour(from, to, 3, i);
        std::set<std::uint32_t> groups;
        const std::uint32_t first_switch = 16 * 5;  // vertices of a node: 2 accelerators, 2 NICs, a switch
        const auto group_size = static_cast<std::uint32_t>((topology_.vertices() - first_switch) / 4);
        for (const LinkId link : detour.links()) {
            if (topology_.link(link).name == "core") {
                groups.insert((static_cast<std::uint32_t>(index(topology_.tail(link))) - first_switch) / group_size);
            }
        }
        groups.erase(group_of(from));
        ASSERT_EQ(groups.size(), 1U);
        passed.insert(*groups.begin());
    }
    EXPECT_EQ(passed, (std::set<std::uint32_t>{1, 2}));
}

INSTANTIATE_TEST_SUITE_P(rails, small_dragonfly_plus, testing::Values("1", "2"),
                         [](const auto& test) { return "rails_" + std::string(test.param); });

TEST(dragonfly_plus, a_part_inside_one_group_builds_only_its_leaves) {
    const Machine machine = read(small("2"));
    EXPECT_EQ(machine.topology(2).vertices(), 2U * 5 + 2 + 2);  // one unit of two leaves, two spines
    EXPECT_EQ(machine.topology(4).vertices(), 4U * 5 + 4 + 2);  // two units
    EXPECT_EQ(machine.topology(5).vertices(), 5U * 5 + 4 * 6);  // everything
}

// Two groups against two, bundles of two cables of 10 GB/s.
TEST(dragonfly_plus, bisection_is_half_the_groups_times_the_other_half) {
    EXPECT_EQ(read(small("1")).info().bisection, 4 * 2 * 10_GBps);
}

// 180 nodes on 18 leaves of 40 ports down and 18 up, 18 spines: leonardo_info.md of PICO; here with 19 groups of one
// cable per spine and pair of groups.
TEST(dragonfly_plus, a_group_like_leonardos_has_its_switches) {
    const std::string network = R"({ "kind": "dragonfly_plus", "source": "test", "nodes_per_group": 180,
        "nodes_per_leaf": 10, "spines_per_group": 18, "global_links": 18, "radix": 40,
        "port": "port", "local": "up", "global": "core" })";
    const Machine machine = read(replaced(small_machine(network), R"("nodes": 16)", R"("nodes": 3420)"));
    const Topology topology = machine.topology(3420);
    EXPECT_EQ(topology.vertices(), 3420U * 5 + 19 * 36);
    EXPECT_EQ(count_links(topology, "up"), 19U * 18 * 18 * 2);
    EXPECT_EQ(count_links(topology, "core"), 19U * 18 * 18);
    std::map<NodeId, std::uint32_t> ports;
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        if (topology.link(link).name == "core") ++ports[topology.tail(link)];
    }
    for (const auto& [spine, used] : ports) EXPECT_EQ(used, 18U);
}

TEST(dragonfly_plus_files, a_switch_cannot_have_more_cables_than_ports) {
    try {
        read(small("1", "4"));
        FAIL() << "a switch has more cables than ports";
    } catch (const ConfigError& error) {
        ASSERT_EQ(error.diagnostics().size(), 2U);
        EXPECT_EQ(error.diagnostics()[0].message, "a leaf switch needs 6 ports (4 down, 2 up), but has 4");
        EXPECT_EQ(error.diagnostics()[1].message, "a spine switch needs 5 ports (2 down, 3 up), but has 4");
    }
}

}  // namespace
}  // namespace weft
