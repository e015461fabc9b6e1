// What a router says of its tree is what its routes do.
#include "sim/topology/route_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/topologies/machines_with_trees.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

class route_tree : public testing::TestWithParam<std::string> {
  protected:
    using Place = RouteTree::Place;

    std::vector<Route> ways(RankId from, RankId to, std::uint64_t salt) const {
        std::vector<Route> ways{topology.route(from, to, salt)};
        for (std::uint32_t i = 0; i < topology.router->detours(from, to); ++i) {
            ways.push_back(topology.router->detour(from, to, salt, i));
        }
        return ways;
    }
    // Places of links counted from the first of their subtree, way by way.
    using Offsets = std::vector<std::pair<std::size_t, std::size_t>>;  // way, place
    Offsets offsets(const std::vector<Route>& ways, Place place) const {
        Offsets found;
        const std::vector<RouteTree::Range> ranges = tree.links(place);
        for (std::size_t way = 0; way < ways.size(); ++way) {
            for (const LinkId link : ways[way].links()) {
                std::size_t before = 0;
                for (const RouteTree::Range range : ranges) {
                    if (link >= range.first && link < range.end) {
                        found.emplace_back(way, before + index(link) - index(range.first));
                    }
                    before += index(range.end) - index(range.first);
                }
            }
        }
        return found;
    }

    // The links that a way leads over, up and down.
    std::vector<LinkId> between(RankId from, RankId to, const Climb& climb, std::uint64_t way) const {
        std::vector<LinkId> links;
        for (std::uint32_t tier = 1; tier <= climb.turn; ++tier) {
            const std::uint32_t up = tree.subtree(topology.node_of(from), climb.leave, tier);
            links.push_back(tree.link({tier, up}, way % tree.ways(tier), false));
        }
        for (std::uint32_t tier = climb.turn; tier > 0; --tier) {
            const std::uint32_t down = tree.subtree(topology.node_of(to), climb.enter, tier);
            links.push_back(tree.link({tier, down}, way % tree.ways(tier), true));
        }
        return links;
    }

    Machine machine = Machine::load(GetParam());
    Topology topology = machine.topology(std::min(machine.info().nodes, 600U));
    const RouteTree& tree = *topology.router->tree();
};

TEST_P(route_tree, numbers_every_link_once) {
    std::vector<int> seen(topology.links(), 0);
    for (std::uint32_t tier = 0; tier < tree.tiers(); ++tier) {
        for (std::uint32_t subtree = 0; subtree < tree.subtrees(tier); ++subtree) {
            for (const RouteTree::Range range : tree.links({tier, subtree})) {
                for (LinkId link = range.first; link < range.end; link = next(link)) {
                    ++seen[index(link)];
                }
            }
        }
    }
    EXPECT_TRUE(std::ranges::all_of(seen, [](int times) { return times == 1; }));
}

// Messages that turn alike lead over links in equal places of their subtrees, and of equal classes: what is not told by
// the ends in a node is told by the way.
TEST_P(route_tree, tells_which_links_a_message_loads) {
    std::mt19937 random(1);
    const auto draw = [&] { return RankId(static_cast<std::uint32_t>(random() % topology.ranks)); };
    std::map<std::tuple<std::uint32_t, bool, std::uint32_t, std::uint64_t, std::uint64_t>, Offsets> known;
    for (int i = 0; i < 20'000; ++i) {
        const RankId from = draw(), to = i % 2 == 0 ? draw() : RankId(static_cast<std::uint32_t>(from) ^ 64U);
        if (index(to) >= topology.ranks || topology.node_of(from) == topology.node_of(to)) continue;
        const std::uint64_t salt = random() % 3;
        const Climb climb = tree.climb(from, to);
        const std::vector<Route> all = ways(from, to, salt);
        const auto check = [&](Place place, bool leaves, std::uint64_t key, std::uint64_t nic) {
            const Offsets found = offsets(all, place);
            EXPECT_FALSE(found.empty());
            const auto [same, is_new] = known.try_emplace({place.tier, leaves, climb.turn, key, nic}, found);
            EXPECT_EQ(same->second, found) << GetParam();
        };
        check({0, topology.node_of(from)}, true, topology.local_of(from), climb.leave);
        check({0, topology.node_of(to)}, false, topology.local_of(to), climb.enter);
        std::size_t links = tree.leaving(from, to).hops + tree.entering(from, to).hops;
        for (std::uint32_t tier = 1; tier <= climb.turn; ++tier) {
            const std::uint32_t up = tree.subtree(topology.node_of(from), climb.leave, tier),
                                down = tree.subtree(topology.node_of(to), climb.enter, tier);
            check({tier, up}, true, (tree.way(to) + salt) % tree.ways(tier), 0);
            check({tier, down}, false, (tree.way(to) + salt) % tree.ways(tier), 0);
            links += 2;
        }
        for (const Route& way : all) ASSERT_EQ(way.hops, links);
        for (std::size_t taken = 0; taken < all.size(); ++taken) {
            const std::uint64_t way = tree.way(to) + salt + taken * tree.detour_step(climb.turn);
            ASSERT_TRUE(std::ranges::equal(between(from, to, climb, way),
                                           all[taken].links().subspan(tree.leaving(from, to).hops, 2 * climb.turn)));
        }
        const Route leaving = tree.leaving(from, to), entering = tree.entering(from, to);
        ASSERT_TRUE(std::ranges::equal(leaving.links(), all[0].links().first(leaving.hops)));
        ASSERT_TRUE(std::ranges::equal(entering.links(), all[0].links().last(entering.hops)));
    }
}

// What rails rest on: that of another NIC is as far away from it on every node.
TEST_P(route_tree, adds_up_ways_of_nodes_and_nics) {
    std::mt19937 random(1);
    const std::uint32_t on_node = topology.ranks_per_node;
    const auto draw_node = [&] { return static_cast<std::uint32_t>(random() % (topology.ranks / on_node)); };
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> known;  // by NICs
    for (int i = 0; i < 5'000; ++i) {
        const std::uint32_t node = draw_node(), other = draw_node(), a = static_cast<std::uint32_t>(random() % on_node),
                            b = static_cast<std::uint32_t>(random() % on_node);
        if (node == other) continue;
        const RankId from = RankId(other * on_node);
        const auto first = RankId(node * on_node + a), second = RankId(node * on_node + b);
        const std::uint64_t apart = tree.way(second) - tree.way(first);
        const std::pair nics(tree.climb(from, first).enter, tree.climb(from, second).enter);
        EXPECT_EQ(known.try_emplace(nics, apart).first->second, apart) << GetParam();
    }
}

TEST_P(route_tree, parts_ways_where_each_has_links_of_its_own) {
    for (std::uint32_t tier = 1; tier < tree.tiers(); ++tier) {
        std::vector<LinkId> links;
        for (std::uint64_t way = 0; way < tree.ways(tier); ++way) {
            for (const bool down : {false, true}) links.push_back(tree.link({tier, 0}, way, down));
        }
        std::ranges::sort(links);
        std::size_t all = 0;
        for (const RouteTree::Range range : tree.links({tier, 0})) all += index(range.end) - index(range.first);
        const auto last = std::unique(links.begin(), links.end());
        EXPECT_EQ(static_cast<std::size_t>(last - links.begin()), all);
        EXPECT_EQ(tree.parts_ways(tier), last == links.end());
    }
}

TEST_P(route_tree, has_so_many_nodes_on_one_switch) {
    for (std::uint32_t node = 1; node < topology.ranks / topology.ranks_per_node && tree.tiers() > 1; ++node) {
        EXPECT_EQ(tree.subtree(node, 0, 1) != tree.subtree(node - 1, 0, 1), node % tree.nodes_per_switch() == 0);
    }
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::ranges::replace(name, '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(machines, route_tree, testing::ValuesIn(test::machines_with_trees()), name_of);

}  // namespace
}  // namespace weft
