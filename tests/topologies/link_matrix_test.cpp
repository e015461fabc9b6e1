// Where links stand in the pictures of a network, on every shipped machine and kind of network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "topologies/machine.hpp"
#include "topologies/vertex_names.hpp"

namespace weft {
namespace {

class link_matrices_of : public testing::TestWithParam<std::string> {
  protected:
    Machine machine_ = Machine::load(GetParam());
    Topology topology_ = machine_.topology(std::min(machine_.info().nodes, 200U));
};

// The way back stands in the same cell and leads the other way, or in the cell across the diagonal.
TEST_P(link_matrices_of, every_link_that_leaves_a_node_has_a_place_and_so_has_the_way_back) {
    const std::vector<LinkMatrix> matrices = topology_.wiring->matrices();
    for (LinkId link{}; index(link) < topology_.links(); link = next(link)) {
        const auto place = topology_.wiring->place(link),
                   back = topology_.wiring->place(topology_.wiring->reverse(link));
        const NodeKind tail = topology_.node_kind(topology_.tail(link)),
                       head = topology_.node_kind(topology_.head(link));
        const bool leaves = tail == NodeKind::network_switch || head == NodeKind::network_switch;
        ASSERT_EQ(place.has_value(), leaves);
        if (!place) continue;
        const LinkMatrix& matrix = matrices.at(place->matrix);
        ASSERT_LT(place->row, matrix.rows);
        ASSERT_LT(place->column, matrix.columns);
        MatrixPlace expected = *place;
        if (matrix.to_row.empty()) {
            std::swap(expected.row, expected.column);
        } else {
            expected.direction =
                place->direction == MatrixDirection::to_row ? MatrixDirection::to_column : MatrixDirection::to_row;
        }
        ASSERT_EQ(*back, expected) << index(link);
    }
}

INSTANTIATE_TEST_SUITE_P(shipped, link_matrices_of, testing::ValuesIn(machine_names()), [](const auto& test) {
    std::string name = test.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

std::vector<std::string> route_names(const Topology& topology, RankId from, RankId to) {
    const VertexNames names(topology);
    std::vector<std::string> found;
    const Route route = topology.route(from, to);
    for (const LinkId link : route.links()) found.push_back(names[topology.head(link)]);
    return found;
}

TEST(vertex_names, switches_are_called_by_their_place) {
    const Topology frontier = Machine::load("frontier").topology(200);
    EXPECT_THAT(route_names(frontier, RankId{0}, RankId{199 * 8}), testing::Contains("group 1 switch 16"));
    const Topology h100 = Machine::load("dgx-h100").topology(64);
    const std::vector<std::string> tree = route_names(h100, RankId{0}, RankId{63 * 8});
    EXPECT_THAT(tree, testing::Contains(testing::StartsWith("leaf ")));
    EXPECT_THAT(tree, testing::Contains(testing::StartsWith("spine ")));
    const Topology leonardo = Machine::load("leonardo").topology(200);
    EXPECT_THAT(route_names(leonardo, RankId{0}, RankId{199 * 4}),
                testing::Contains(testing::StartsWith("group 1 leaf ")));
}

// 200 nodes reach into the second of Frontier's groups, so all 74 are built: each is a row.
TEST(link_matrices, are_groups_of_a_dragonfly_levels_of_a_tree_and_dimensions_of_a_torus) {
    const auto titles = [](const char* machine, std::uint32_t nodes) {
        std::vector<std::string> found;
        for (const LinkMatrix& each : Machine::load(machine).topology(nodes).wiring->matrices())
            found.push_back(each.title);
        return found;
    };
    using testing::ElementsAre;
    EXPECT_THAT(titles("frontier", 200),
                ElementsAre("Between nodes and the network", "Between groups, and on the diagonal inside them"));
    EXPECT_THAT(titles("frontier", 2), ElementsAre("Between nodes and the network", "Between switches"));
    EXPECT_THAT(titles("dgx-h100", 64), testing::Contains("Between leaf and spine"));
    EXPECT_THAT(titles("tpu-v4", 64), testing::Contains("Along dimension 3"));
    EXPECT_EQ(Machine::load("frontier").topology(200).wiring->matrices()[1].rows, 74U);
}

}  // namespace
}  // namespace weft
