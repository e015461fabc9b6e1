// Where a router says that routes move with their ends, they do: every route and detour of every salt, link by link.
#include "sim/topology/link_move.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/topologies/small_machine.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

// Of links that were met, where each went.
using Met = std::map<LinkId, LinkId>;

std::string follow(const Topology& topology, const Route& route, const Route& after, const LinkMove& move, Met& met) {
    if (route.hops != after.hops) return "another length";
    for (std::size_t i = 0; i < route.hops; ++i) {
        if (move(route.hop[i]) != after.hop[i]) return "another link at hop " + std::to_string(i);
        if (topology.link_class(route.hop[i]) != topology.link_class(after.hop[i])) return "another class";
        met.emplace(route.hop[i], after.hop[i]);
    }
    return {};
}

std::string compare_pair(const Topology& topology, RankId from, RankId to, const LinkMove& move, Met& met) {
    const Router& router = *topology.router;
    if (router.has_one_route(from, to) != router.has_one_route(move(from), move(to))) return "choice of routes";
    const std::uint32_t detours = router.detours(from, to);
    if (detours != router.detours(move(from), move(to))) return "detours";
    for (const std::uint64_t salt : {0U, 1U, 2U, 7U, 63U}) {
        std::string text =
            follow(topology, router.route(from, to, salt), router.route(move(from), move(to), salt), move, met);
        for (std::uint32_t i = 0; i < detours && text.empty(); ++i) {
            text = follow(topology, router.detour(from, to, salt, i), router.detour(move(from), move(to), salt, i),
                          move, met);
        }
        if (!text.empty()) return text;
    }
    return {};
}

// Empty where all is as the move says.
std::string compare(const Topology& topology, const std::vector<RankId>& group, const LinkMove& move) {
    Met met;
    for (const RankId from : group) {
        for (const RankId to : group) {
            if (from == to) continue;
            if (std::string text = compare_pair(topology, from, to, move, met); !text.empty()) return text;
        }
    }
    std::set<LinkId> images;
    LinkId last{};
    for (const auto& [link, image] : met) {
        if (!images.insert(image).second) return "two links become one";
        if (move.keeps_order() && images.size() > 1 && image < last) return "another order";
        last = image;
    }
    return {};
}

struct Random {
    std::mt19937 bits{1};
    std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(bits() % end); }
    template <class T>
    T of(std::initializer_list<T> list) {
        return list.begin()[below(static_cast<std::uint32_t>(list.size()))];
    }
};

// On one node or on several, evenly apart, by one to all of the places there.
std::vector<RankId> random_group(const Topology& topology, Random& random) {
    const std::uint32_t local = topology.ranks_per_node, nodes = topology.ranks / local;
    const std::uint32_t places = 1 + random.below(std::min(local, 4U)), first_place = random.below(local),
                        apart = random.of({1U, 2U, 3U, 4U, 8U, 20U, 32U, 64U, 512U, 4096U}),
                        first = random.below(nodes), count = 1 + random.below(4);
    std::vector<RankId> group;
    for (std::uint32_t node = first; node < nodes && node < first + count * apart; node += apart) {
        for (std::uint32_t i = 0; i < places; ++i) group.push_back(RankId{node * local + (first_place + i) % local});
    }
    return group;
}

std::int32_t random_shift(const Topology& topology, Random& random) {
    const auto local = static_cast<std::int32_t>(topology.ranks_per_node);
    const std::int32_t nodes = random.of({0, 0, 1, 1, 2, 3, 4, 8, 16, 20, 32, 64, 64, 128, 512, 1024, 4096}),
                       times = 1 + static_cast<std::int32_t>(random.below(3)), places = random.of({0, 0, 0, 1, 2});
    return (nodes * times * local + places) * random.of({1, -1});
}

struct Found {
    std::uint32_t moves = 0, ordered = 0, across = 0;
};

Found try_moves(const Topology& topology) {
    Random random;
    Found found;
    for (int i = 0; i < 6000; ++i) {
        const std::vector<RankId> group = random_group(topology, random);
        const std::int32_t by = random_shift(topology, random);
        const std::optional<LinkMove> move = topology.move(group, by);
        if (!move || by == 0) continue;
        const std::string text = compare(topology, group, *move);
        if (!text.empty()) {
            ADD_FAILURE() << text << ": " << testing::PrintToString(group) << " by " << by;
            return found;
        }
        ++found.moves;
        found.ordered += move->keeps_order();
        found.across += topology.node_of(group.front()) != topology.node_of(group.back());
    }
    return found;
}

class link_move : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(machines, link_move, testing::ValuesIn(machine_names()));

TEST_P(link_move, moves_routes_of_every_machine) {
    const Machine machine = Machine::load(GetParam());
    const Topology topology = machine.topology(std::min(machine.info().nodes, 9216U));
    EXPECT_GT(try_moves(topology).moves, 0U);
}

std::string fat_tree(const std::string& order, const std::string& pxn, const std::string& levels) {
    std::string text = small_machine(R"({ "kind": "fat_tree", "source": "test", "nodes_per_leaf": 2, "rails": 2,
        "leaf_order": ")" + order + R"(", "radix": 16, "port": "port", "levels": )" +
                                     levels + "}");
    const std::string attached = R"("attached": [0, 1],)";
    return text.replace(text.find(attached), attached.size(), attached + R"( "pxn": )" + pxn + ",");
}

// Blocks that are filled and not, cables side by side, ways that are more and fewer than leaves, with and without PXN.
TEST(link_move, moves_routes_of_small_fat_trees) {
    for (const char* const order : {"unit", "rail"}) {
        for (const char* const pxn : {"true", "false"}) {
            for (const char* const levels : {R"([{ "link": "up", "children": 4, "parents": 2, "cables": 2 },
                      { "link": "core", "children": 4, "parents": 4 }])",
                                             R"([{ "link": "up", "children": 4, "parents": 3 },
                      { "link": "core", "children": 4, "parents": 2, "cables": 3 }])",
                                             R"([{ "link": "up", "children": 2, "parents": 2 },
                      { "link": "core", "children": 2, "parents": 2, "cables": 2 },
                      { "link": "core", "children": 4, "parents": 4 }])"}) {
                SCOPED_TRACE(std::string(order) + pxn + levels);
                const Found found =
                    try_moves(Machine::read(Document::parse("small.json", fat_tree(order, pxn, levels))).topology(16));
                EXPECT_GT(found.across, 0U);
                EXPECT_GT(found.ordered, 0U);
                EXPECT_LT(found.ordered, found.moves) << "a last digit that turns";
            }
        }
    }
}

TEST(link_move, moves_nothing_on_unlike_nodes) {
    const Machine machine = Machine::load("dgx-h100");
    const std::vector<RankId> group{RankId{0}, RankId{8}};
    EXPECT_TRUE(machine.topology(8).move(group, 8));
    const Fabric slow{.link_faults = {{.where = RouteCables{RankId{0}, RankId{1}}, .share = 0.5}}};
    EXPECT_FALSE(machine.topology(8, slow).move(group, 8));
}

TEST(link_move, joins_what_agrees) {
    LinkMove two(8), three(8), other(8);
    for (LinkMove* const move : {&two, &three, &other}) move->add_stretch(LinkId{0}, 4);
    two.add_stretch(LinkId{100}, 1);
    three.add_stretch(LinkId{100}, 1);
    const std::int32_t turn[] = {2, -2};
    three.add_stretch(LinkId{200}, 10, turn);
    other.add_stretch(LinkId{100}, 2);
    EXPECT_FALSE(two.join(other));
    EXPECT_TRUE(two.join(three));
    EXPECT_TRUE(three.join(two));
    EXPECT_EQ(two(LinkId{203}), LinkId{211});
    EXPECT_EQ(two(LinkId{204}), LinkId{216});
    EXPECT_EQ(two(LinkId{150}), LinkId{151});
    EXPECT_FALSE(two.keeps_order());
}

}  // namespace
}  // namespace weft
