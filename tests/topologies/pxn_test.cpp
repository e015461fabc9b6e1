// Traffic that keeps to the rail of its receiver.
#include <gtest/gtest.h>

#include "tests/topologies/all_pairs.hpp"
#include "tests/topologies/small_machine.hpp"
#include "topologies/channels.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

// Two rails of 16 nodes on one leaf each, under common spines.
const std::string rails = small_machine(R"({ "kind": "fat_tree", "source": "test", "nodes_per_leaf": 16, "rails": 2,
    "radix": 32, "port": "port", "levels": [{ "link": "up", "children": 2, "parents": 16 }] })");
const std::string rails_with_pxn = replaced(rails, R"("attached": [0, 1],)", R"("attached": [0, 1], "pxn": true,)");

Topology build(const std::string& text) { return Machine::read(Document::parse("small.json", text)).topology(16); }

TEST(pxn, traffic_crosses_to_the_other_rail_inside_the_node_not_over_the_spines) {
    const Topology without = build(rails), with = build(rails_with_pxn);
    const RankId from{0}, to{7};  // the second accelerator of node 3
    EXPECT_EQ(classes_along(without, without.route(from, to)),
              (std::vector<std::string>{"wire", "port", "up", "up", "port", "wire"}));
    EXPECT_EQ(classes_along(with, with.route(from, to)),
              (std::vector<std::string>{"wire", "wire", "wire", "port", "port", "wire"}));
}

TEST(pxn, routes_are_contiguous_and_never_meet_a_spine) {
    const Topology topology = build(rails_with_pxn);
    for (std::uint32_t a = 0; a < topology.ranks; ++a) {
        for (std::uint32_t b = 0; b < topology.ranks; ++b) {
            const Route route = topology.route(RankId{a}, RankId{b}, a + b);
            expect_simple(topology, RankId{a}, RankId{b}, route);
            EXPECT_EQ(route.hops, topology.route(RankId{b}, RankId{a}, a + b).hops);
            EXPECT_EQ(switch_hops(topology, route), 0U);
        }
    }
}

// Spines that join the leaves of one rail only, 4 leaves of 4 nodes each: no other level is ever crossed.
const std::string apart = small_machine(R"({ "kind": "fat_tree", "source": "test", "nodes_per_leaf": 4, "rails": 2,
    "leaf_order": "rail", "radix": 16, "port": "port", "levels": [{ "link": "up", "children": 4, "parents": 4 }] })");

TEST(pxn, rails_need_no_switch_that_joins_them) {
    const auto pxn_of = [](const std::string& text) {
        return build(replaced(text, R"("attached": [0, 1],)", R"("attached": [0, 1], "pxn": true,)"));
    };
    const Topology topology = pxn_of(apart), joined = pxn_of(replaced(apart, R"("parents": 4 })", R"("parents": 4 },
        { "link": "core", "children": 2, "parents": 4 })"));
    expect_sound_routes(topology);
    for (std::uint32_t to = 0; to < topology.ranks; ++to) {
        EXPECT_EQ(classes_along(topology, topology.route(RankId{0}, RankId{to})),
                  classes_along(joined, joined.route(RankId{0}, RankId{to})));
    }
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        EXPECT_EQ(topology.head(link), topology.tail(topology.wiring->reverse(link)));
    }
}

TEST(pxn, channels_keep_their_own_nics) {
    for (const Order order : {Order::rings, Order::trees}) {
        const Topology without = build(rails), with = build(rails_with_pxn);
        EXPECT_EQ(ChannelPlanner(with).lay(ranks(0, 8), order).channels,
                  ChannelPlanner(without).lay(ranks(0, 8), order).channels);
    }
}

}  // namespace
}  // namespace weft
