#include "tools/output/topology_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "topologies/machine.hpp"

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
    const std::string dot = to_graphviz(topology_);
    EXPECT_EQ(occurrences(dot, "shape="), topology_.vertices());
    EXPECT_EQ(occurrences(dot, "--"), topology_.links() / 2);
    EXPECT_EQ(occurrences(dot, "{"), 1U);
    EXPECT_EQ(dot.substr(0, 9), "graph G {");
    EXPECT_NE(dot.find("label=\"rank " + std::to_string(topology_.ranks - 1) + "\""), std::string::npos);
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
    const std::string dot = to_graphviz(topology);
    EXPECT_NE(dot.find("label=\"a \\\"b\\\"\\\\\";"), std::string::npos) << dot.substr(0, 200);
    EXPECT_NE(dot.find("[label=\"x\\n\\\"y\\n"), std::string::npos) << dot;
}

}  // namespace
}  // namespace weft
