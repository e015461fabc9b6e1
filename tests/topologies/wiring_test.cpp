// What a topology says of its links by arithmetic, against lists of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/topologies/listed_links.hpp"
#include "tests/topologies/shipped_machine_json.hpp"
#include "tests/topologies/small_machine.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

using testing_support::listed_links;
using testing_support::ListedLink;
using testing_support::ListedLinks;

NodeId vertex_of(std::uint32_t number) { return NodeId{number}; }

// The first vertex, and the first link, that are the network's.
std::uint32_t first_switch(const Topology& topology) {
    return topology.vertices() - topology.vertices_of(NodeKind::network_switch);
}
std::uint32_t first_network_link(const Topology& topology) {
    const std::uint32_t nodes = topology.ranks / topology.ranks_per_node;
    return nodes * topology.node_links + 2 * topology.vertices_of(NodeKind::nic);
}

// As the block's file numbers them.
void expect_network(const Topology& topology, const ListedLinks& listed) {
    const std::uint32_t first = first_network_link(topology), switches = first_switch(topology);
    ASSERT_EQ(topology.links() - first, listed.size());
    for (std::uint32_t i = 0; i < listed.size(); ++i) {
        const LinkId link{first + i};
        const ListedLink found{static_cast<std::uint32_t>(topology.tail(link)) - switches,
                               static_cast<std::uint32_t>(topology.head(link)) - switches, topology.link(link).name};
        ASSERT_EQ(found, listed[i]) << "link " << i;
    }
    const auto is_switch = [&](NodeId vertex) { return topology.node_kind(vertex) == NodeKind::network_switch; };
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        ASSERT_EQ(topology.wiring->joins_switches(link),
                  is_switch(topology.tail(link)) && is_switch(topology.head(link)));
    }
}

// Every node is like the first, whose vertices and links come first.
void expect_nodes_alike(const Topology& topology) {
    const std::uint32_t nodes = topology.ranks / topology.ranks_per_node;
    const std::uint32_t vertices = first_switch(topology) / nodes, links = topology.node_links;
    for (std::uint32_t vertex = 0; vertex < nodes * vertices; ++vertex) {
        ASSERT_EQ(topology.node_kind(vertex_of(vertex)), topology.node_kind(vertex_of(vertex % vertices)));
    }
    for (std::uint32_t number = 0; number < nodes * links; ++number) {
        const LinkId link{number}, like{number % links};
        ASSERT_EQ(topology.link_class(link), topology.link_class(like));
        ASSERT_EQ(index(topology.tail(link)), index(topology.tail(like)) + number / links * vertices);
        ASSERT_EQ(index(topology.head(link)), index(topology.head(like)) + number / links * vertices);
    }
    for (RankId rank{}; index(rank) < topology.ranks; rank = next(rank)) {
        ASSERT_EQ(index(topology.endpoint(rank)), topology.node_of(rank) * vertices + topology.local_of(rank));
    }
}

// Twins between a NIC and a switch, NIC by NIC.
void expect_ports(const Topology& topology) {
    NodeId nic{};
    std::uint32_t nics = 0;
    std::set<LinkClassId> classes;
    for (std::uint32_t up = first_network_link(topology) - 2 * topology.vertices_of(NodeKind::nic);
         up < first_network_link(topology); up += 2) {
        while (topology.node_kind(nic) != NodeKind::nic) nic = next(nic);
        ASSERT_EQ(topology.tail(LinkId{up}), nic);
        ASSERT_EQ(topology.wiring->port(nics++), LinkId{up});
        ASSERT_EQ(topology.node_kind(topology.head(LinkId{up})), NodeKind::network_switch);
        ASSERT_EQ(topology.tail(LinkId{up + 1}), topology.head(LinkId{up}));
        ASSERT_EQ(topology.head(LinkId{up + 1}), nic);
        classes.insert({topology.link_class(LinkId{up}), topology.link_class(LinkId{up + 1})});
        nic = next(nic);
    }
    EXPECT_EQ(classes.size(), 1U);
}

// Of the links between two vertices, the first one way belongs to the first the other way.
void expect_ways_back(const Topology& topology) {
    std::vector<std::tuple<NodeId, NodeId, LinkId>> ways;
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        const LinkEnds ends = topology.ends(link);
        ways.emplace_back(ends.tail, ends.head, link);
    }
    std::ranges::sort(ways);
    for (std::size_t i = 0; i < ways.size(); ++i) {
        const auto [tail, head, link] = ways[i];
        const auto first = std::ranges::lower_bound(ways, std::tuple{tail, head, LinkId{}});
        const auto first_back = std::ranges::lower_bound(ways, std::tuple{head, tail, LinkId{}});
        const auto back = first_back + (ways.begin() + static_cast<std::ptrdiff_t>(i) - first);
        ASSERT_EQ(topology.wiring->reverse(link), std::get<LinkId>(*back)) << "link " << index(link);
    }
}

void expect_counts(const Topology& topology) {
    Table<LinkClassId, std::uint32_t> counted(topology.classes.size(), 0);
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) ++counted[topology.link_class(link)];
    EXPECT_EQ(topology.links_of_class().rows(), counted.rows());
}

void expect_listed(const Machine& machine, const nlohmann::json& file) {
    const std::uint32_t all = machine.info().nodes;
    for (const std::uint32_t nodes : std::set{1U, std::min(2U, all), std::min(70U, all), std::min(200U, all), all}) {
        SCOPED_TRACE(nodes);
        const Topology topology = machine.topology(nodes);
        expect_network(topology, listed_links(file, nodes));
        expect_nodes_alike(topology);
        expect_ports(topology);
        expect_ways_back(topology);
        expect_counts(topology);
    }
}

class wiring : public testing::TestWithParam<std::string> {};

TEST_P(wiring, links_are_those_of_a_list) {
    expect_listed(Machine::load(GetParam()), test::shipped_machine_json(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(shipped, wiring, testing::ValuesIn(machine_names()), [](const auto& test) {
    std::string name = test.param;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
    return name;
});

// Shapes that no shipped machine has.
class small_wiring : public testing::TestWithParam<const char*> {};

TEST_P(small_wiring, links_are_those_of_a_list) {
    const std::string text = small_machine(GetParam());
    expect_listed(Machine::read(Document::parse("small.json", text)), nlohmann::json::parse(text));
}

INSTANTIATE_TEST_SUITE_P(
    networks, small_wiring,
    testing::Values(
        R"({ "kind": "torus", "source": "test", "port": "port", "link": "core", "dimensions": [2, 4, 2] })",
        R"({ "kind": "torus", "source": "test", "port": "port", "link": "core", "dimensions": [1, 4, 1, 4],
             "wrap": [true, false, false, true] })",
        R"({ "kind": "dragonfly", "source": "test", "nodes_per_group": 4, "switches_per_group": 4,
             "nodes_per_chassis": 2, "switches_per_chassis": 2, "global_links": 3, "radix": 16, "port": "port",
             "local": "up", "global": "core" })",
        R"({ "kind": "dragonfly", "source": "test", "nodes_per_group": 4, "switches_per_group": 1,
             "nodes_per_chassis": 4, "switches_per_chassis": 1, "global_links": 2, "radix": 16, "port": "port",
             "local": "up", "global": "core" })",
        R"({ "kind": "dragonfly_plus", "source": "test", "nodes_per_group": 4, "nodes_per_leaf": 2, "rails": 2,
             "spines_per_group": 2, "cables": 3, "global_links": 3, "radix": 32, "port": "port", "local": "up",
             "global": "core" })",
        R"({ "kind": "fat_tree", "source": "test", "nodes_per_leaf": 4, "rails": 2, "leaf_order": "rail",
             "radix": 32, "port": "port", "levels": [{ "link": "up", "children": 4, "parents": 2, "cables": 2 },
                                                     { "link": "core", "children": 2, "parents": 4 }] })",
        R"({ "kind": "fat_tree", "source": "test", "nodes_per_leaf": 2, "rails": 1, "radix": 32, "port": "port",
             "levels": [{ "link": "up", "children": 2, "parents": 3 }, { "link": "core", "children": 2, "parents": 2 },
                        { "link": "up", "children": 2, "parents": 2, "cables": 3 }] })"));

}  // namespace
}  // namespace weft
