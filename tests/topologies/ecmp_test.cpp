// Routing by hash: flows keep the way that chance gave them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "tests/topologies/all_pairs.hpp"
#include "tests/topologies/small_machine.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

Topology hashed(const Machine& machine, std::uint32_t nodes, std::uint64_t seed,
                std::vector<std::uint32_t> placement = {}) {
    return machine.topology(nodes, {.routing = RouteChoice(Routing::ecmp, seed), .placement = std::move(placement)});
}

// Links of a class that carry anything when every rank sends to that so many after it.
std::set<LinkId> used_links(const Topology& topology, const std::string& link_class, std::uint32_t by) {
    std::set<LinkId> used;
    for (std::uint32_t rank = 0; rank < topology.ranks; ++rank) {
        const Route route = topology.route(RankId(rank), RankId((rank + by) % topology.ranks));
        for (const LinkId link : route.links()) {
            if (topology.link(link).name == link_class) used.insert(link);
        }
    }
    return used;
}

// Every GPU of one leaf sends to one of another, and back: 64 flows on the 32 cables of a leaf, twice as fast as a NIC.
// Dealt out in turn they fill all; by hash (1 - 1/32)^64 of the cables stay empty.
TEST(ecmp, flows_collide_as_balls_in_bins) {
    const Machine machine = Machine::load("megascale");
    EXPECT_EQ(machine.info().routing, Routing::ecmp);
    constexpr std::uint32_t nodes = 128, half = 64 * 8;
    constexpr double cables = 2 * 16 * 32;  // both ways, of two leaves of each of eight rails
    const Topology in_turn = machine.topology(nodes, {.routing = Routing::minimal});
    EXPECT_EQ(static_cast<double>(used_links(in_turn, "ethernet.leaf_spine", half).size()), cables);
    double used = 0;
    constexpr int seeds = 100;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        used += static_cast<double>(used_links(hashed(machine, nodes, seed), "ethernet.leaf_spine", half).size());
    }
    EXPECT_NEAR(used / (seeds * cables), 1.0 - std::pow(1.0 - 1.0 / 32, 64), 0.01);
}

TEST(ecmp, channels_of_a_pair_spread_over_all_its_ways) {
    const Machine machine = Machine::read(Document::parse(
        "small.json", small_machine(R"({"kind": "fat_tree", "source": "test", "nodes_per_leaf": 4, "rails": 2,
            "radix": 16, "port": "port", "routing": "ecmp:1",
            "levels": [{ "link": "up", "children": 8, "parents": 4 }]})")));
    EXPECT_EQ(machine.info().routing, RouteChoice(Routing::ecmp, 1));
    const Topology topology = machine.topology(16);
    expect_sound_routes(topology);
    std::map<LinkId, std::uint32_t> first_up;
    for (std::uint64_t salt = 0; salt < 1600; ++salt) ++first_up[topology.route(RankId(0), RankId(30), salt).hop[2]];
    ASSERT_EQ(first_up.size(), 4U);
    for (const auto& [link, times] : first_up) EXPECT_NEAR(times, 400, 5 * std::sqrt(300.0));
}

TEST(ecmp, ways_depend_on_the_seed_and_the_machines_nodes_alone) {
    for (const char* name : {"megascale", "dgx-h100", "frontier", "leonardo"}) {
        const Machine machine = Machine::load(name);
        std::vector<std::uint32_t> backwards(130);
        std::iota(backwards.rbegin(), backwards.rend(), 0U);
        const Topology a = hashed(machine, 130, 0), again = hashed(machine, 130, 0), other = hashed(machine, 130, 1);
        const Topology turned = hashed(machine, 130, 0, backwards);
        const auto same_rank = [&](std::uint32_t rank) {  // in `turned`
            return RankId((129 - rank / a.ranks_per_node) * a.ranks_per_node + rank % a.ranks_per_node);
        };
        std::uint32_t differ = 0;
        for (std::uint32_t from = 0; from < a.ranks; from += 7) {
            const std::uint32_t to = (from + a.ranks / 2) % a.ranks;
            for (std::uint64_t salt = 0; salt < 4; ++salt) {
                const Route route = a.route(RankId(from), RankId(to), salt);
                const Route same = again.route(RankId(from), RankId(to), salt);
                const Route drawn = other.route(RankId(from), RankId(to), salt);
                EXPECT_TRUE(std::ranges::equal(route.links(), same.links()));
                EXPECT_EQ(route.hops, a.route(RankId(to), RankId(from), salt).hops);
                differ += std::ranges::equal(route.links(), drawn.links()) ? 0 : 1;
                const Route placed = turned.route(same_rank(from), same_rank(to), salt);
                ASSERT_EQ(route.hops, placed.hops);
                for (std::size_t i = 0; i < route.hops; ++i) {
                    EXPECT_TRUE(!a.joins_switches(route.hop[i]) || route.hop[i] == placed.hop[i]) << name;
                }
            }
        }
        EXPECT_GT(differ, 0U) << name;
    }
}

}  // namespace
}  // namespace weft
