// Where the nodes of a job are put.
#include "topologies/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "sim/io/diagnostics.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/topologies/all_pairs.hpp"
#include "tests/topologies/small_machine.hpp"

namespace weft {
namespace {

using Nodes = std::vector<std::uint32_t>;

// Groups of 10, the last of 5.
MachineInfo groups_of_ten() {
    MachineInfo info;
    info.name = "small";
    info.nodes = 35;
    info.accelerators_per_node = 8;
    info.neighbourhoods = {2, 10};
    return info;
}
const MachineInfo machine = groups_of_ten();

std::string error_of(std::string_view placement, std::uint32_t nodes) {
    try {
        place_nodes(placement, nodes, machine);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "none";
}

TEST(placement, contiguous_is_the_machine_as_it_is) { EXPECT_TRUE(place_nodes("contiguous", 4, machine).empty()); }

TEST(placement, random_draws_each_node_once_and_repeats_exactly) {
    for (const std::uint32_t nodes : {1U, 17U, 35U}) {
        const Nodes drawn = place_nodes("random:7", nodes, machine);
        EXPECT_EQ(std::set(drawn.begin(), drawn.end()).size(), nodes);
        for (const std::uint32_t node : drawn) EXPECT_LT(node, 35U);
        EXPECT_EQ(drawn, place_nodes("random:7", nodes, machine));
    }
    EXPECT_NE(place_nodes("random:7", 35, machine), place_nodes("random:8", 35, machine));
    EXPECT_EQ(place_nodes("random", 35, machine), place_nodes("random:0", 35, machine));
}

// Every node comes first 1/35 of the time, give or take five standard deviations.
TEST(placement, random_favours_no_node) {
    std::vector<int> first(35);
    for (int seed = 0; seed < 7000; ++seed) {
        ++first[place_nodes("random:" + std::to_string(seed), 3, machine).front()];
    }
    for (const int count : first) EXPECT_NEAR(count, 200, 5 * std::sqrt(200.0));
}

TEST(placement, groups_take_equal_runs) {
    EXPECT_EQ(place_nodes("group:2", 4, machine), (Nodes{0, 1, 10, 11}));
    EXPECT_EQ(place_nodes("group:3", 5, machine), (Nodes{0, 1, 10, 11, 20}));
    EXPECT_EQ(place_nodes("group:4", 20, machine).back(), 34U);
}

TEST(placement, scatter_deals_in_turn) {
    EXPECT_EQ(place_nodes("scatter:2", 4, machine), (Nodes{0, 10, 1, 11}));
    EXPECT_EQ(place_nodes("scatter:3", 5, machine), (Nodes{0, 10, 20, 1, 11}));
}

TEST(placement, mistakes_are_told) {
    EXPECT_EQ(error_of("group:5", 8), "error: placement: small has 4 groups of 10 nodes, not 5");
    EXPECT_EQ(error_of("scatter:4", 3), "error: placement: 3 nodes do not reach 4 groups");
    EXPECT_EQ(error_of("group:4", 24), "error: placement: 24 nodes on 4 groups put 6 on group 3 of small, which has 5");
    EXPECT_EQ(error_of("group:0", 8),
              "error: placement: expected a number of at least 1 after the colon, got \"group:0\"");
    EXPECT_EQ(error_of("random:x", 8),
              "error: placement: expected a number of at least 0 after the colon, got \"random:x\"");
    EXPECT_EQ(
        error_of("contigous", 8),
        "error: placement: expected contiguous, random, random:SEED, group:K, scatter:K, nodes:LIST or file:PATH, "
        "got \"contigous\", did you mean \"contiguous\"?");
    EXPECT_NE(error_of("no/such/file", 8).find("no/such/file: error: cannot be read"), std::string::npos);
}

TEST(placement, nodes_are_listed_by_number) {
    EXPECT_EQ(place_nodes("nodes:30,4-6", 4, machine), (Nodes{30, 4, 5, 6}));
    EXPECT_EQ(place_nodes("nodes:30,4-6", 2, machine), (Nodes{30, 4}));
    EXPECT_NE(error_of("nodes:4", 2).find("expected the 2 nodes of the job, got 1"), std::string::npos);
    EXPECT_NE(error_of("nodes:4,4", 2).find("node 4 stands here again"), std::string::npos);
}

TEST(placement, a_list_is_read_from_its_folder_and_cut_to_the_job) {
    const test::TemporaryFolder temporary;
    const std::filesystem::path& folder = temporary.path();
    std::ofstream(folder / "placement_test_nodes") << "30\n4\n7\n";
    EXPECT_EQ(place_nodes("file:placement_test_nodes", 3, machine, folder), (Nodes{30, 4, 7}));
    EXPECT_EQ(place_nodes("./placement_test_nodes", 2, machine, folder), (Nodes{30, 4}));
    EXPECT_THROW(place_nodes("file:placement_test_nodes", 4, machine, folder), ConfigError);
}

const std::string dragonfly = R"({ "kind": "dragonfly", "source": "test", "nodes_per_group": 4, "switches_per_group": 4,
    "nodes_per_chassis": 2, "switches_per_chassis": 2, "global_links": 2, "radix": 16,
    "port": "port", "local": "up", "global": "core" })";

Machine small() { return Machine::read(Document::parse("small.json", small_machine(dragonfly))); }

TEST(placed, ranks_keep_their_numbers_and_find_the_routes_of_their_nodes) {
    const Machine dragonflies = small();
    const Nodes nodes{14, 3, 9, 0, 12};
    const Topology whole = dragonflies.topology(16), placed = dragonflies.topology(5, {.placement = nodes});
    ASSERT_EQ(placed.ranks, 10U);
    expect_sound_routes(placed);
    for (std::uint32_t a = 0; a < placed.ranks; ++a) {
        for (std::uint32_t b = 0; b < placed.ranks; ++b) {
            const RankId from{nodes[a / 2] * 2 + a % 2}, to{nodes[b / 2] * 2 + b % 2};
            const Route here = placed.route(RankId{a}, RankId{b}, 3), there = whole.route(from, to, 3);
            EXPECT_EQ(classes_along(placed, here), classes_along(whole, there));
            EXPECT_EQ(placed.router->detours(RankId{a}, RankId{b}), whole.router->detours(from, to));
        }
    }
}

TEST(placed, the_first_nodes_in_order_are_the_machine_as_it_is) {
    const Machine dragonflies = small();
    const Topology plain = dragonflies.topology(6), placed = dragonflies.topology(6, {.placement = {0, 1, 2, 3, 4, 5}});
    ASSERT_EQ(plain.links(), placed.links());
    for (LinkId link{}; index(link) < plain.links(); link = next(link)) {
        EXPECT_EQ(plain.tail(link), placed.tail(link));
        EXPECT_EQ(plain.head(link), placed.head(link));
    }
}

TEST(placed, impossible_placements_are_refused) {
    const Machine dragonflies = small();
    EXPECT_THROW(dragonflies.topology(2, {.placement = {1}}), RangeError);
    EXPECT_THROW(dragonflies.topology(2, {.placement = {1, 1}}), RangeError);
    EXPECT_THROW(dragonflies.topology(2, {.placement = {1, 16}}), RangeError);
}

TEST(background, takes_its_share_of_one_class) {
    const Machine dragonflies = small();
    const Topology idle = dragonflies.topology(16), loaded = dragonflies.topology(16, {.background = {{"core", 0.25}}});
    for (LinkClassId id{}; id < idle.classes.end_id(); id = next(id)) {
        const double left = idle.classes[id].name == "core" ? 0.75 : 1.0;
        EXPECT_EQ(loaded.classes[id].bandwidth, idle.classes[id].bandwidth * left);
        EXPECT_EQ(loaded.classes[id].nominal, idle.classes[id].nominal);
    }
    EXPECT_EQ(dragonflies.info().switch_classes, (std::vector<std::string>{"up", "core"}));
    EXPECT_THROW(dragonflies.topology(16, {.background = {{"cores", 0.25}}}), RangeError);
    EXPECT_THROW(dragonflies.topology(16, {.background = {{"core", 1.0}}}), RangeError);
    EXPECT_THROW(dragonflies.topology(16, {.background = {{"core", -0.1}}}), RangeError);
}

// Pollaczek and Khinchine's mean waiting time with service times that do not vary, l E[S^2] / (2 (1 - l E[S])) for
// packets that come at rate l and take S: here 4096 B at 10 GB/s, three quarters of the time.
TEST(background, makes_packets_wait_as_in_an_m_d_1_queue) {
    const Machine dragonflies = small();
    const Topology idle = dragonflies.topology(16), loaded = dragonflies.topology(16, {.background = {{"core", 0.75}}});
    const double service = 4096.0 / 10e9, rate = 0.75 / service;
    const double wait = rate * service * service / (2.0 * (1.0 - rate * service));
    for (LinkClassId id{}; id < idle.classes.end_id(); id = next(id)) {
        const double longer = (loaded.classes[id].latency - idle.classes[id].latency).value;
        EXPECT_NEAR(longer, idle.classes[id].name == "core" ? wait : 0.0, 1e-18);
    }
}

TEST(node_names, are_read_with_the_machine) {
    const std::string text = replaced(small_machine(dragonfly), R"("device": "none")",
                                      R"("device": "none", "node_names": { "prefix": "nid", "first": 1000 })");
    const MachineInfo info = Machine::read(Document::parse("small.json", text)).info();
    ASSERT_TRUE(info.node_names);
    EXPECT_EQ(info.node_names->prefix, "nid");
    EXPECT_EQ(info.node_names->first, 1000U);
    EXPECT_EQ(info.link_classes, (std::vector<std::string>{"wire", "port", "up", "core"}));
}

TEST(node_names, may_be_listed_one_for_each_node) {
    const auto error_of = [](const std::string& names) -> std::string {
        try {
            Machine::read(Document::parse("small.json", replaced(small_machine(dragonfly), R"("device": "none")",
                                                                 R"("device": "none", "node_names": )" + names)));
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "none";
    };
    std::string names = "[\"login\"";
    for (int i = 1; i < 16; ++i) names += ", \"gpu" + std::to_string(i) + "\"";
    EXPECT_EQ(error_of(names + "]"), "none");
    EXPECT_NE(error_of("[\"a\"]").find("names of the 16 nodes, got 1"), std::string::npos);
    EXPECT_NE(error_of(replaced(names, "login", "gpu3") + "]").find("two nodes are called \"gpu3\""),
              std::string::npos);
}

}  // namespace
}  // namespace weft
