#include "topologies/vertex_names.hpp"

#include <gtest/gtest.h>

#include "topologies/machine.hpp"

namespace weft {
namespace {

LinkId link_of(const Topology& topology, std::uint32_t nic) { return topology.wiring->port(nic); }

// Ports are 25 GB/s nominal; names are those of their ends.
TEST(hottest_links, are_named_and_counted_once_for_all_that_carried_as_much) {
    const Topology topology = Machine::load("frontier").topology(2);
    const std::vector<LinkBytes> links{{link_of(topology, 0), {1e9}, 1},
                                       {link_of(topology, 1), {3e9}, 2},
                                       {link_of(topology, 5), {3e9 * (1 + 1e-12)}, 1},
                                       {link_of(topology, 6), {2e9}, 1}};
    const std::vector<HotLink> hottest = hottest_links(topology, links, {1.0}, 2);
    ASSERT_EQ(hottest.size(), 2U);
    EXPECT_EQ(hottest[0].from, "node 0 NIC 1");
    EXPECT_EQ(hottest[0].to, "group 0 switch 1");
    EXPECT_EQ(hottest[0].links, 3U);
    EXPECT_EQ(hottest[0].link_class, "slingshot.nic");
    EXPECT_DOUBLE_EQ(hottest[0].busy, 3e9 / topology.link(links[1].link).bandwidth.value);
    EXPECT_EQ(hottest[1].from, "node 1 NIC 2");
    EXPECT_EQ(hottest[1].links, 1U);
}

TEST(hottest_links, of_each_class_are_there_and_the_busiest_comes_first) {
    const Topology topology = Machine::load("frontier").topology(2);
    const std::vector<LinkBytes> links{{LinkId{0}, {1e9}}, {link_of(topology, 0), {5e9}}};
    const std::vector<HotLink> hottest = hottest_links(topology, links, {1.0}, 3);
    ASSERT_EQ(hottest.size(), 2U);
    EXPECT_EQ(hottest[0].link_class, "slingshot.nic");
    EXPECT_GT(hottest[0].busy, hottest[1].busy);
}

}  // namespace
}  // namespace weft
