#include "tools/output/topology_facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "topologies/machine.hpp"
#include "topologies/vertex_names.hpp"

namespace weft {
namespace {

std::size_t occurrences(const std::string& text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

class graph_files_of : public testing::TestWithParam<std::string> {
  protected:
    Topology topology_ = Machine::load(GetParam()).topology(2);
};

TEST_P(graph_files_of, graphviz_draws_every_vertex_and_one_edge_per_cable) {
    const std::string dot = to_graphviz(topology_, Drawn::all);
    EXPECT_EQ(occurrences(dot, "shape="), topology_.vertices());
    EXPECT_EQ(occurrences(dot, "--"), topology_.links() / 2);
    EXPECT_EQ(occurrences(dot, "{"), 1U);
    EXPECT_EQ(dot.substr(0, 9), "graph G {");
    EXPECT_NE(dot.find("label=\"rank " + std::to_string(topology_.ranks - 1) + "\""), std::string::npos);
}

// Those that a NIC is plugged into, or that lie on a route between two ranks.
std::set<std::string> used_switches(const Topology& topology) {
    const VertexNames names(topology);
    std::set<std::string> used;
    const auto add = [&](NodeId vertex) {
        if (topology.node_kind(vertex) == NodeKind::network_switch) used.insert(names[vertex]);
    };
    for (std::uint32_t nic = 0; nic < topology.vertices_of(NodeKind::nic); ++nic) {
        add(topology.head(topology.wiring->port(nic)));
    }
    for (std::uint32_t a = 0; a < topology.ranks; ++a) {
        for (std::uint32_t b = 0; b < topology.ranks; ++b) {
            const Route route = topology.route(RankId{a}, RankId{b});
            for (const LinkId link : route.links()) add(topology.head(link));
        }
    }
    return used;
}

// Graphviz takes seconds for some hundred vertices.
TEST_P(graph_files_of, graphviz_draws_the_switches_that_the_nodes_use_and_no_others) {
    const std::string dot = to_graphviz(topology_);
    const std::set<std::string> used = used_switches(topology_);
    const std::string hexagon = ", shape=hexagon";
    std::set<std::string> drawn;
    for (std::size_t end = dot.find(hexagon); end != dot.npos; end = dot.find(hexagon, end + 1)) {
        const std::size_t begin = dot.rfind("label=\"", end) + 7;
        const std::string name = dot.substr(begin, end - 1 - begin);
        if (!name.starts_with("node ")) drawn.insert(name);
    }
    EXPECT_EQ(drawn, used);
    EXPECT_LT(drawn.size(), 64U);
    const std::size_t all = topology_.vertices_of(NodeKind::network_switch);
    const std::string told = "\\n" + std::to_string(used.size()) + " of " + std::to_string(all) + " switches";
    EXPECT_EQ(dot.find(told) != dot.npos, used.size() < all) << dot.substr(0, 200);
}

TEST_P(graph_files_of, graphml_has_every_directed_link_in_the_order_of_the_topology) {
    const std::string xml = to_graphml(topology_);
    EXPECT_EQ(occurrences(xml, "<node id="), topology_.vertices());
    EXPECT_EQ(occurrences(xml, "<edge id="), topology_.links());
    std::size_t at = 0;
    for (LinkId link{}; index(link) < topology_.links(); link = next(link)) {
        const std::string ends = "source=\"n" + std::to_string(index(topology_.tail(link))) + "\" target=\"n" +
                                 std::to_string(index(topology_.head(link))) + "\"";
        at = xml.find(ends, at);
        ASSERT_NE(at, std::string::npos) << ends;
        ASSERT_NE(xml.find(topology_.link(link).name, at), std::string::npos);
    }
}

INSTANTIATE_TEST_SUITE_P(shipped, graph_files_of, testing::ValuesIn(machine_names()), [](const auto& test) {
    std::string name = test.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

// Graphviz: inside quotation marks only \" is an escape of its own; \\ and \n are those of labels.
TEST(graphviz, names_are_escaped) {
    Topology topology = Machine::load("frontier").topology(1);
    topology.name = "a \"b\"\\";
    for (LinkClass& link_class : topology.classes) link_class.name = "x\n\"y";
    const std::string dot = to_graphviz(topology, Drawn::all);
    EXPECT_NE(dot.find("label=\"a \\\"b\\\"\\\\\";"), std::string::npos) << dot.substr(0, 200);
    EXPECT_NE(dot.find("[label=\"x\\n\\\"y\\n"), std::string::npos) << dot;
}

}  // namespace
}  // namespace weft
