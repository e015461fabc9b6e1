// Groups inside nodes that are alike: laid once and moved, they load what they load one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "sim/cost/cost.hpp"
#include "tests/sim/cost/algorithm_cost.hpp"
#include "tests/topologies/route_walk.hpp"
#include "topologies/channels.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

class moved_communicators : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(machines, moved_communicators, testing::ValuesIn(machine_names()));

TEST_P(moved_communicators, links_of_a_node_are_those_of_the_first_moved) {
    const Topology topology = Machine::load(GetParam()).topology(3);
    const auto vertices = static_cast<std::uint32_t>(topology.endpoint(RankId{topology.ranks_per_node}));
    for (std::uint32_t node = 1; node < 3; ++node) {
        for (std::uint32_t i = 0; i < topology.node_links; ++i) {
            const LinkId first{i}, moved{node * topology.node_links + i};
            EXPECT_EQ(topology.link_class(moved), topology.link_class(first));
            EXPECT_EQ(index(topology.tail(moved)), index(topology.tail(first)) + node * vertices);
            EXPECT_EQ(index(topology.head(moved)), index(topology.head(first)) + node * vertices);
        }
    }
}

TEST_P(moved_communicators, cost_what_they_cost_one_by_one) {
    const Machine machine = Machine::load(GetParam());
    const Topology topology = machine.topology(3);
    const std::uint32_t local = topology.ranks_per_node;
    if (local == 1) GTEST_SKIP() << "no groups inside nodes";
    ChannelPlanner planner(topology);
    std::size_t compared = 0;
    for (const ProtocolCost& protocol : machine.info().library().costs) {
        for (const Collective op : {Collective::all_reduce, Collective::all_gather, Collective::all_to_all}) {
            const Algorithm* const algorithm = find_algorithm(op, protocol.algorithm);
            const GroupShape shape = shape_of(topology, ranks(0, local));
            if (algorithm == nullptr || !protocol.serves(op) || !algorithm->runs(shape)) continue;
            std::vector<Communicator> apart;
            for (std::uint32_t node = 0; node < 3; ++node) {
                apart.push_back(planner.lay(ranks(node * local, local), algorithm->order));
            }
            Communicator together = apart[1];
            for (const std::int32_t nodes : {-1, 1}) {
                together.copies.push_back(
                    *topology.move(ranks(local, local), nodes * static_cast<std::int32_t>(local)));
            }
            const auto expected = cost(*algorithm, shape, apart, topology, machine.info().library(), protocol);
            const auto moved = cost(*algorithm, shape, {&together, 1}, topology, machine.info().library(), protocol);
            ASSERT_EQ(moved.size(), expected.size());
            for (std::size_t i = 0; i < moved.size(); ++i) {
                EXPECT_EQ(moved[i].pattern, expected[i].pattern) << algorithm->name;
                EXPECT_EQ(moved[i].path, expected[i].path) << algorithm->name;
                EXPECT_EQ(moved[i].launch, expected[i].launch) << algorithm->name;
            }
            ++compared;
        }
    }
    EXPECT_GT(compared, 0U);
}

TEST(moved_communicators, a_faulty_link_makes_nodes_unlike_one_another) {
    const Machine machine = Machine::load("dgx-h100");
    EXPECT_GT(machine.topology(2).node_links, 0U);
    const Fabric slow{.link_faults = {{.where = RouteCables{RankId{0}, RankId{1}}, .share = 0.5}}};
    EXPECT_EQ(machine.topology(2, slow).node_links, 0U);
    const Fabric whole{.link_faults = {{.where = RouteCables{RankId{0}, RankId{1}}, .share = 1.0}}};
    EXPECT_GT(machine.topology(2, whole).node_links, 0U);
}

}  // namespace
}  // namespace weft
