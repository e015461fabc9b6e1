#include "topologies/topology_pool.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace weft {
namespace {

TEST(topology_pool, gives_back_what_was_put_back_and_nothing_else) {
    const Machine machine = Machine::load("frontier"), again = Machine::load("frontier");
    TopologyPool pool(2);
    Topology two = pool.take(machine, 2, {});
    const Router* const router = two.router.get();
    pool.put_back(machine, 2, {}, std::move(two));
    EXPECT_NE(pool.take(machine, 3, {}).router.get(), router);
    EXPECT_NE(pool.take(again, 2, {}).router.get(), router);  // another reading may be of another file
    EXPECT_NE(pool.take(machine, 2, {.routing = Routing::minimal}).router.get(), router);
    const Topology same = pool.take(machine, 2, {});
    EXPECT_EQ(same.router.get(), router);
    EXPECT_NE(pool.take(machine, 2, {}).router.get(), router);  // it is in use
}

TEST(topology_pool, keeps_no_more_than_it_may) {
    const Machine machine = Machine::load("frontier");
    TopologyPool pool(2);
    std::vector<const Router*> routers;
    std::vector<Topology> topologies;
    for (std::uint32_t nodes = 1; nodes <= 3; ++nodes) {
        topologies.push_back(pool.take(machine, nodes, {}));
        routers.push_back(topologies.back().router.get());
    }
    for (std::uint32_t nodes = 1; nodes <= 3; ++nodes) {
        pool.put_back(machine, nodes, {}, std::move(topologies[nodes - 1]));
    }
    EXPECT_EQ(pool.take(machine, 2, {}).router.get(), routers[1]);
    EXPECT_EQ(pool.take(machine, 3, {}).router.get(), routers[2]);
}

}  // namespace
}  // namespace weft
