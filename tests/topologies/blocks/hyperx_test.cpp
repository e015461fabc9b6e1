// HyperX and the smallest fat trees: routes against a search, and cuts in closed form.
#include <gtest/gtest.h>

#include "sim/io/diagnostics.hpp"
#include "tests/topologies/all_pairs.hpp"
#include "tests/topologies/small_machine.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

Machine read(const std::string& text) { return Machine::read(Document::parse("small.json", text)); }

std::string hyperx(const std::string& dimensions, std::uint32_t nodes_per_switch = 1) {
    return small_machine(R"({ "kind": "hyperx", "source": "test", "port": "port", "radix": 64, "nodes_per_switch": )" +
                         std::to_string(nodes_per_switch) + R"(, "dimensions": )" + dimensions + "}");
}
const std::string square = R"([{ "size": 4, "link": "up", "cables": 2 }, { "size": 4, "link": "core" }])";
const std::string cube = R"([{ "size": 2, "link": "up" }, { "size": 2, "link": "up" }, { "size": 2, "link": "up" }])";

TEST(hyperx, routes_and_detours_are_sound) {
    for (const std::string& text : {hyperx(square), hyperx(cube, 2), hyperx(R"([{ "size": 3, "link": "up" }])", 6)})
        expect_sound_routes(read(text).topology(16));
}

TEST(hyperx, no_search_finds_a_shorter_way) {
    const Topology topology = read(hyperx(square)).topology(16);
    for (std::uint32_t a = 0; a < topology.ranks; ++a) {
        const Table<NodeId, std::uint32_t> distance = distances_from(topology, topology.endpoint(RankId{a}));
        for (std::uint32_t b = 0; b < topology.ranks; ++b) {
            // Two accelerators of a node meet in its switch; others leave by their own NICs.
            EXPECT_EQ(topology.route(RankId{a}, RankId{b}, a + b).hops, distance[topology.endpoint(RankId{b})]);
        }
    }
}

TEST(hyperx, lines_share_the_messages_of_all_to_all) {
    const Topology topology = read(hyperx(cube, 2)).topology(16);
    std::map<LinkId, std::uint32_t> times;
    for (std::uint32_t a = 0; a < topology.ranks; ++a) {
        for (std::uint32_t b = 0; b < topology.ranks; ++b) {
            const Route route = topology.route(RankId{a}, RankId{b}, 0);
            for (const LinkId link : route.links()) {
                if (topology.link(link).name == "up") ++times[link];
            }
        }
    }
    // 16 x 16 messages each way over the four lines of a dimension; its order depends on the receiver, so that lines
    // differ a little.
    ASSERT_EQ(times.size(), 24U);
    std::uint32_t sum = 0;
    for (const auto& [link, taken] : times) {
        EXPECT_NEAR(taken, 64, 32);
        sum += taken;
    }
    EXPECT_EQ(sum, 24U * 64U);
}

TEST(hyperx, bisection_is_the_thinnest_dimension) {
    EXPECT_EQ(read(hyperx(square)).info().bisection, 4.0 * 4 * 10_GBps);  // columns: 2 x 2 pairs on 4 lines
    EXPECT_EQ(read(hyperx(cube, 2)).info().bisection, 4.0 * 10_GBps);
}

TEST(hyperx, has_room_and_ports_or_is_refused) {
    const auto refused = [](const std::string& text) {
        try {
            read(text);
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(refused(hyperx(cube)).find("8 switches of 1 nodes have no room for 16 nodes"), std::string::npos);
    EXPECT_NE(refused(hyperx("[]", 16)).find("expected 1 to 8 dimensions, got 0"), std::string::npos);
    EXPECT_NE(refused(hyperx(R"([{ "size": 40, "link": "up", "cables": 2 }])")).find("a switch needs 80 ports"),
              std::string::npos);
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
