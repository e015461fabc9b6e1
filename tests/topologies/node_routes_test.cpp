// Which NIC an accelerator uses, on nodes that no shipped machine has.
#include "topologies/node_routes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace weft {
namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
using Numbers = std::vector<std::uint32_t>;

const Pairs every_two_of_four{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

// Of four accelerators with these cables among them and NICs on two.
Numbers nics_used(std::uint32_t per_package, const Pairs& cables, const Numbers& attached) {
    NodePlan plan;
    plan.accelerators = 4;
    plan.accelerators_per_package = per_package;
    plan.nics = attached;
    const auto lay = [&](std::uint32_t a, std::uint32_t b) {
        plan.links.push_back({a, b, LinkClassId{0}});
        plan.links.push_back({b, a, LinkClassId{0}});
    };
    for (const auto& [a, b] : cables) lay(a, b);
    for (std::uint32_t nic = 0; nic < attached.size(); ++nic) lay(attached[nic], plan.nic_vertex(nic));
    Table<LinkClassId, LinkClass> classes;
    classes.push_back({.name = "wire", .nominal = 1_GBps, .bandwidth = 1_GBps, .latency = {}});
    const NodeRoutes routes(plan, classes);
    Numbers used;
    for (std::uint32_t accelerator = 0; accelerator < plan.accelerators; ++accelerator) {
        used.push_back(routes.nic_of(accelerator));
    }
    return used;
}

TEST(node_routes, an_accelerator_has_its_own_nic_or_that_of_its_package) {
    EXPECT_EQ(nics_used(2, every_two_of_four, {0, 2}), (Numbers{0, 0, 1, 1}));
    EXPECT_EQ(nics_used(2, every_two_of_four, {1, 3}), (Numbers{0, 0, 1, 1}));
    EXPECT_EQ(nics_used(2, {{0, 2}, {1, 2}, {2, 3}}, {0, 2}), (Numbers{0, 0, 1, 1})) << "though others are nearer";
}

TEST(node_routes, of_nics_as_near_it_has_the_one_with_the_fewest_users) {
    EXPECT_EQ(nics_used(1, every_two_of_four, {0, 2}), (Numbers{0, 1, 1, 0}));
}

TEST(node_routes, without_packages_the_nearest_nic_is_used) {
    EXPECT_EQ(nics_used(1, {{0, 1}, {1, 2}, {2, 3}}, {0, 3}), (Numbers{0, 0, 1, 1}));
    EXPECT_EQ(nics_used(1, {{0, 1}, {0, 2}, {1, 3}}, {0, 3}), (Numbers{0, 1, 0, 1})) << "1 is next to both";
}

}  // namespace
}  // namespace weft
