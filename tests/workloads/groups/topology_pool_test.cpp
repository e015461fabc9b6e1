#include "workloads/groups/prepared_topology.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace weft {
namespace {

TEST(topology_pool, gives_back_what_was_put_back_and_nothing_else) {
    const Machine machine = Machine::load("frontier"), again = Machine::load("frontier");
    TopologyPool pool(2);
    std::unique_ptr<PreparedTopology> two = pool.take(machine, 2, {});
    const PreparedTopology* const put = two.get();
    pool.put_back(machine, 2, {}, std::move(two));
    EXPECT_NE(pool.take(machine, 3, {}).get(), put);
    EXPECT_NE(pool.take(again, 2, {}).get(), put);  // another reading may be of another file
    EXPECT_NE(pool.take(machine, 2, {.routing = Routing::minimal}).get(), put);
    const std::unique_ptr<PreparedTopology> same = pool.take(machine, 2, {});
    EXPECT_EQ(same.get(), put);
    EXPECT_NE(pool.take(machine, 2, {}).get(), put);  // it is in use
}

TEST(topology_pool, keeps_no_more_than_it_may) {
    const Machine machine = Machine::load("frontier");
    TopologyPool pool(2);
    std::vector<const PreparedTopology*> put;
    std::vector<std::unique_ptr<PreparedTopology>> topologies;
    for (std::uint32_t nodes = 1; nodes <= 3; ++nodes) {
        topologies.push_back(pool.take(machine, nodes, {}));
        put.push_back(topologies.back().get());
    }
    for (std::uint32_t nodes = 1; nodes <= 3; ++nodes) {
        pool.put_back(machine, nodes, {}, std::move(topologies[nodes - 1]));
    }
    EXPECT_EQ(pool.take(machine, 2, {}).get(), put[1]);
    EXPECT_EQ(pool.take(machine, 3, {}).get(), put[2]);
}

}  // namespace
}  // namespace weft
