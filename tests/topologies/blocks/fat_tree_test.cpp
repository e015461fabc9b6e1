// Fat trees: the DGX machines, and a small tree in full.
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <set>

#include "sim/io/diagnostics.hpp"
#include "tests/topologies/all_pairs.hpp"
#include "tests/topologies/small_machine.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

std::uint32_t switches_of(const Topology& topology) { return topology.vertices_of(NodeKind::network_switch); }

// 4 units of 4 nodes with 2 rails: 8 leaves of 4 + 4 ports, one block of 4 spines for all.
std::string two_levels(std::string_view order, std::string_view levels) {
    return small_machine(R"({
        "kind": "fat_tree", "source": "test", "nodes_per_leaf": 4, "rails": 2, "leaf_order": ")" +
                         std::string(order) + R"(", "radix": 16, "port": "port", "levels": )" + std::string(levels) +
                         "}");
}
const std::string one_block = two_levels("unit", R"([{ "link": "up", "children": 8, "parents": 4 }])");
const std::string rail_blocks = two_levels("rail", R"([{ "link": "up", "children": 4, "parents": 2, "cables": 2 },
                                                       { "link": "core", "children": 2, "parents": 4 }])");

Machine read(const std::string& text) { return Machine::read(Document::parse("small.json", text)); }
Topology build(const std::string& text) { return read(text).topology(16); }

TEST(fat_tree, selene_has_full_bisection) {
    const MachineInfo info = Machine::load("dgx-a100").info();
    EXPECT_EQ(info.bisection, 560.0 / 2 * 8 * 25_GBps);
}

// 28 units in blocks of 10: 3 x 10 x 8 leaves, 3 x 8 groups of 10 spines, 10 x 20 cores.
TEST(fat_tree, selene_has_the_switches_of_its_blocks) {
    EXPECT_EQ(switches_of(Machine::load("dgx-a100").topology(560)), 240U + 240 + 200);
}

// Traffic to another rail changes rails inside the sender's node (PXN), and meets no more switches.
TEST(fat_tree, a_rail_inside_one_block_never_meets_the_core) {
    const Topology topology = Machine::load("dgx-h100").topology(576);
    const std::uint32_t block = 16 * 32;
    for (std::uint32_t node = 1; node < 576; node += 13) {
        const std::size_t hops = node < 32 ? 0 : node < block ? 2 : 4;
        EXPECT_EQ(switch_hops(topology, topology.route(RankId(5), RankId(node * 8 + 5))), hops) << node;
        EXPECT_EQ(switch_hops(topology, topology.route(RankId(5), RankId(node * 8 + 6))), hops) << node;
    }
}

TEST(fat_tree, nodes_on_one_leaf_meet_there) {
    const Topology topology = Machine::load("dgx-a100").topology(20);
    EXPECT_EQ(classes_along(topology, topology.route(RankId(3), RankId(19 * 8 + 3))),
              (std::vector<std::string>{"pcie.nic", "infiniband.nic", "infiniband.nic", "pcie.nic"}));
}

std::string dgx_with(const std::string& delta) { return R"({"extends": "dgx-h100", )" + delta + "}"; }
Machine read_text(const std::string& text) { return Machine::read(Document::parse("mine.json", text)); }

TEST(fat_tree, oversubscription_over_levels_thins_the_leaves) {
    const BytesPerSecond full = Machine::load("dgx-h100").info().bisection;
    for (const double factor : {1.0, 2.0, 4.0, 8.0}) {
        const std::string delta = R"("network": {"oversubscription": )" + std::to_string(factor) + "}";
        EXPECT_NEAR(read_text(dgx_with(delta)).info().bisection.value, full.value / factor, 1e-6 * full.value)
            << factor;
    }
}

// 64 nodes of 8 NICs, by leaves of 16 nodes of one rail, of 32 and of 128 ports.
std::string derived(const std::string& network, const std::string& nodes = "64") {
    return dgx_with(R"("nodes": )" + nodes + R"(, "network": {"levels": null, "link": "infiniband.leaf_spine", )" +
                    network + "}");
}

TEST(fat_tree, levels_follow_from_radix_and_oversubscription) {
    const double nics = 64.0 * 8 * 50e9 / 2;
    const Machine full = read_text(derived(R"("nodes_per_leaf": 16, "radix": 32, "oversubscription": 1)"));
    EXPECT_NEAR(full.info().bisection.value, nics, 1.0);
    // 4 leaves of each rail share 2 spines by 8 cables: 8 rails of 4 + 2 switches.
    EXPECT_EQ(switches_of(full.topology(64)), 8U * (4 + 2));
    const Machine half = read_text(derived(R"("nodes_per_leaf": 16, "radix": 32, "oversubscription": 2)"));
    EXPECT_NEAR(half.info().bisection.value, nics / 2, 1.0);
    EXPECT_EQ(switches_of(half.topology(64)), 8U * (4 + 1));
    // Without PXN the rails meet above their spines.
    const std::string apart = R"("node": {"nics": {"pxn": false}}, )";
    std::string joined = derived(R"("nodes_per_leaf": 16, "radix": 32, "oversubscription": 1)");
    joined.insert(1, apart);
    const Topology all = read_text(joined).topology(64);
    EXPECT_GT(switch_hops(all, all.route(RankId(0), RankId(63 * 8 + 1))), 2U);
    EXPECT_NEAR(read_text(joined).info().bisection.value, nics, 1.0);
}

TEST(fat_tree, derived_levels_join_any_number_of_nodes_that_ports_allow) {
    for (const char* order : {"unit", "rail"}) {
        for (const char* factor : {"1", "2", "4"}) {
            for (const std::uint32_t nodes : {1U, 7U, 16U, 100U, 288U}) {
                const std::string text = derived(std::string(R"("nodes_per_leaf": 8, "radix": 64, "leaf_order": ")") +
                                                     order + R"(", "oversubscription": )" + factor,
                                                 std::to_string(nodes));
                const Topology topology = read_text(text).topology(nodes);
                const Route route = topology.route(RankId(0), RankId(nodes * 8 - 1));
                EXPECT_GT(route.hops, 0U) << order << " " << factor << " " << nodes;
            }
        }
    }
}

TEST(fat_tree, an_oversubscription_that_cannot_be_is_refused_with_numbers) {
    const auto refusal = [](const std::string& text) -> std::string {
        try {
            read_text(text);
            return "";
        } catch (const ConfigError& error) {
            return error.what();
        }
    };
    const auto has = [&](const std::string& text, std::string_view words) {
        EXPECT_NE(refusal(text).find(words), std::string::npos) << refusal(text);
    };
    has(derived(R"("nodes_per_leaf": 24, "radix": 32, "oversubscription": 1)"),
        "a leaf needs 48 ports (24 NICs, 24 cables up), but its radix is 32");
    has(derived(R"("nodes_per_leaf": 16, "radix": 32, "oversubscription": 3)"), "16 NICs on a leaf / 3 = 5.33333");
    has(derived(R"("nodes_per_leaf": 16, "radix": 32, "oversubscription": 0.5)"), "expected a factor of 1 or more");
    has(derived(R"("nodes_per_leaf": 2, "radix": 4, "oversubscription": 1, "leaf_order": "unit")"),
        "two levels of switches of 4 ports join 8 leaves");
    has(dgx_with(R"("network": {"nodes_per_leaf": 48, "radix": 128, "oversubscription": 1})"),
        "48 NICs on a leaf would have 48 cables up, and these levels have only 32");
}

class small_fat_tree : public testing::TestWithParam<std::string> {};

TEST_P(small_fat_tree, all_pairs_are_joined) {
    const Topology topology = build(GetParam());
    for (std::uint32_t a = 0; a < topology.ranks; ++a) {
        for (std::uint32_t b = 0; b < topology.ranks; ++b) {
            expect_contiguous(topology, RankId(a), RankId(b), topology.route(RankId(a), RankId(b), a * b));
        }
    }
}

// D-mod-k on a tree of full bandwidth: a shift of all nodes by any distance puts at most one flow on any link.
TEST_P(small_fat_tree, shift_permutations_are_free_of_contention) {
    const Topology topology = build(GetParam());
    const std::uint32_t nodes = topology.ranks / topology.ranks_per_node;
    for (std::uint32_t distance = 1; distance < nodes; ++distance) {
        std::map<LinkId, std::uint32_t> load;
        for (std::uint32_t node = 0; node < nodes; ++node) {
            for (std::uint32_t i = 0; i < topology.ranks_per_node; ++i) {
                const auto from = RankId(node * topology.ranks_per_node + i);
                const auto to = RankId((node + distance) % nodes * topology.ranks_per_node + i);
                const Route route = topology.route(from, to);
                for (const LinkId link : route.links()) ++load[link];
            }
        }
        for (const auto& [link, flows] : load) {
            EXPECT_EQ(flows, 1U) << "shift by " << distance << " on " << topology.link(link).name;
        }
    }
}

TEST_P(small_fat_tree, salts_use_every_way_up_equally) {
    const Topology topology = build(GetParam());
    const auto from = RankId(0), to = RankId(15 * topology.ranks_per_node);
    std::map<LinkId, std::uint32_t> first_up;
    for (std::uint64_t salt = 0; salt < 64; ++salt) ++first_up[topology.route(from, to, salt).hop[2]];
    ASSERT_EQ(first_up.size(), 4U);
    for (const auto& [link, times] : first_up) EXPECT_EQ(times, 16U);
}

INSTANTIATE_TEST_SUITE_P(orders, small_fat_tree, testing::Values(one_block, rail_blocks),
                         [](const auto& test) { return std::string(test.index == 0 ? "one_block" : "rail_blocks"); });

// Four cables up from every leaf: three other ways, none twice.
TEST_P(small_fat_tree, detours_are_the_other_ways_up) {
    const Topology topology = build(GetParam());
    expect_sound_routes(topology);
    const auto from = RankId(0), to = RankId(15 * topology.ranks_per_node);
    const std::uint32_t detours = topology.router->detours(from, to);
    ASSERT_EQ(detours, 3U);
    std::set<std::vector<LinkId>> ways;
    const auto add = [&](const Route& route) { ways.emplace(route.links().begin(), route.links().end()); };
    add(topology.route(from, to, 2));
    for (std::uint32_t i = 0; i < detours; ++i) add(topology.router->detour(from, to, 2, i));
    EXPECT_EQ(ways.size(), detours + 1);
    EXPECT_EQ(topology.router->detours(from, RankId(2)), 0U);  // on one leaf
}

// Of 10 cables up a message takes one, and each of its four detours another: every second one.
TEST(fat_tree, detours_lie_evenly_among_many_ways_up) {
    const Topology topology = build(two_levels("unit", R"([{ "link": "up", "children": 8, "parents": 10 }])"));
    const auto from = RankId(0), to = RankId(15 * topology.ranks_per_node);
    ASSERT_EQ(topology.router->detours(from, to), 4U);
    for (std::uint64_t salt = 0; salt < 10; ++salt) {
        std::set<std::size_t> first_up{index(topology.route(from, to, salt).hop[2])};
        for (std::uint32_t i = 0; i < 4; ++i) first_up.insert(index(topology.router->detour(from, to, salt, i).hop[2]));
        ASSERT_EQ(first_up.size(), 5U);
        const std::size_t cable = 2;  // a link up and one down
        for (auto link = first_up.begin(); std::next(link) != first_up.end(); ++link) {
            EXPECT_EQ(*std::next(link) - *link, 2 * cable);
        }
    }
}

// --- networks that grow ---

// A rack of 72 has a leaf of each of 4 rails. Up to 16 racks spines of 64 ports join all 64 leaves: 18 of them. Above,
// spines have 32 leaves below and as many cables up: 128 racks are 512 leaves, 16 blocks of 18 spines, and as each
// spine takes one cable of a leaf, 32 up to cores of 16 blocks with 4 cables from each: 18 x 32 / 4.
TEST(fat_tree, racks_grow_by_the_rule_of_oversubscription) {
    const Machine racks = Machine::load("gb200-nvl72");
    EXPECT_EQ(racks.info().nodes, 8U);
    EXPECT_EQ(racks.info().most_nodes, 512U);
    EXPECT_EQ(switches_of(racks.topology(16)), 64U + 18);
    EXPECT_EQ(switches_of(racks.topology(128)), 512U + 16 * 18 + 18 * 8);
    EXPECT_EQ(racks.sized(128, 72).info().bisection, 128.0 / 2 * 72 * 50_GBps);
    EXPECT_THROW(racks.topology(513), RangeError);
}

TEST(fat_tree, what_its_levels_join_stays_as_it_is) {
    const Machine eos = Machine::load("dgx-h100");
    EXPECT_EQ(eos.sized(100, 8).info().nodes, 576U);
    EXPECT_TRUE(eos.sized(100, 8).is_copy_of(eos));
    // 1,024 nodes are 32 units in the 2 blocks of 16 that its cores have ports for.
    EXPECT_EQ(switches_of(eos.topology(1024)), 2U * (switches_of(eos.topology(512)) - 16 * 8) + 16 * 8);
}

TEST(fat_tree, a_grown_network_joins_every_pair) {
    const Topology topology = Machine::load("gb200-nvl72").topology(40);
    for (std::uint32_t node = 1; node < 40; ++node) {
        for (std::uint32_t local = 0; local < 72; local += 5) {
            EXPECT_GE(switch_hops(topology, topology.route(RankId(local), RankId(node * 72 + local))), 2U);
        }
    }
}

TEST(fat_tree, only_what_says_so_grows) {
    EXPECT_EQ(Machine::load("meta-roce-h100").info().most_nodes, Machine::load("meta-roce-h100").info().nodes);
    EXPECT_THROW(Machine::load("meta-roce-h100").topology(3073), RangeError);
    EXPECT_THROW(read_text(dgx_with(R"("network": {"levels": [], "grows": true})")), ConfigError);
}

// --- nodes of which jobs take a part ---

TEST(fat_tree, a_part_of_each_node_keeps_its_nics_and_rails) {
    const Machine racks = Machine::load("gb200-nvl72");
    const Machine part = racks.sized(4, 64);
    EXPECT_EQ(part.info().accelerators_per_node, 64U);
    EXPECT_EQ(part.info().nics_per_node, 64U);
    EXPECT_TRUE(racks.sized(4, 64).is_copy_of(part));
    const Topology some = part.topology(4), all = racks.topology(4);
    EXPECT_EQ(some.ranks, 256U);
    for (const std::uint32_t local : {0U, 17U, 63U}) {
        EXPECT_EQ(classes_along(some, some.route(RankId(local), RankId(64 + local))),
                  classes_along(all, all.route(RankId(local), RankId(72 + local))));
    }
    EXPECT_EQ(Machine::load("dgx-h100").sized(2, 4).topology(2).ranks, 8U);  // rails stay eight
    EXPECT_THROW(racks.sized(4, 73), RangeError);
    EXPECT_THROW(Machine::load("frontier").sized(4, 3), RangeError);  // half of a package
}

std::string leaves(std::uint32_t rails, bool pxn) {
    const std::string text =
        small_machine(R"({ "kind": "fat_tree", "source": "test", "nodes_per_leaf": 16, "radix": 64, "port": "port",
                           "leaf_order": "rail", "levels": [], "rails": )" +
                      std::to_string(rails) + "}");
    return pxn ? replaced(text, R"("attached": [0, 1],)", R"("attached": [0, 1], "pxn": true,)") : text;
}

TEST(fat_tree_without_levels, is_one_switch_or_one_for_each_rail) {
    for (const auto& [rails, pxn] : {std::pair(1U, false), std::pair(1U, true), std::pair(2U, true)}) {
        const Machine machine = read(leaves(rails, pxn));
        for (const std::uint32_t nodes : {1U, 2U, 16U}) {
            const Topology topology = machine.topology(nodes);
            EXPECT_EQ(topology.vertices_of(NodeKind::network_switch), rails);
            expect_sound_routes(topology);
        }
        EXPECT_EQ(machine.info().bisection, 16.0 * 10_GBps);
    }
    EXPECT_THROW(read(leaves(2, false)), ConfigError);  // nothing joins the rails
    EXPECT_THROW(read(replaced(leaves(1, false), R"("nodes_per_leaf": 16)", R"("nodes_per_leaf": 8)")), ConfigError);
}

// Of 72 accelerators, 64: groups of 32 keep to a rack.
TEST(crossbar_node, may_leave_accelerators_idle) {
    Document document = open_machine("gb200-nvl72");
    document.assign("node.uses=64");
    const Machine machine = Machine::read(std::move(document));
    EXPECT_EQ(machine.info().accelerators_per_node, 64U);
    EXPECT_EQ(machine.info().nics_per_node, 64U);
    const Topology topology = machine.topology(2);
    EXPECT_EQ(topology.ranks, 128U);
    EXPECT_EQ(topology.node_of(RankId{64}), 1U);
    Document wrong = open_machine("gb200-nvl72");
    wrong.assign("node.uses=73");
    EXPECT_THROW(Machine::read(std::move(wrong)), ConfigError);
    Document mistyped = open_machine("gb200-nvl72");
    mistyped.assign("node.uses=64");
    mistyped.assign("node.nics.attached={\"a\": 1}");
    EXPECT_THROW(Machine::read(std::move(mistyped)), ConfigError) << "not that it crashes";
}

}  // namespace
}  // namespace weft
