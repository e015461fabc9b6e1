// One group of each part of a row shows what the messages of its others pass.
#include "sim/collective/row_parts.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/collective/tree_move.hpp"
#include "tests/topologies/machines_with_trees.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

using Kind = RowPart::Kind;

// 600 nodes of a machine with three tiers of switches, 64 nodes on each of the lowest.
Topology three_tiers() { return Machine::load("spectrum-x-h100").topology(600); }

GroupRow row_of(std::vector<std::uint32_t> nodes, std::vector<NodeRun> moves) {
    GroupRow row{.members = {}, .moves = std::move(moves)};
    for (const std::uint32_t node : nodes) row.members.push_back(RankId{8 * node});
    return row;
}

std::vector<std::pair<Kind, std::vector<NodeRun>>> parts_of(const Topology& topology, GroupRow row) {
    std::vector<std::pair<Kind, std::vector<NodeRun>>> parts;
    const Circles circles(*topology.fabric());
    const PartedRow parted(topology, circles, std::move(row));
    for (const RowPart& part : parted.parts(true)) parts.emplace_back(part.kind, part.moves);
    return parts;
}

using Parts = std::vector<std::pair<Kind, std::vector<NodeRun>>>;

Topology one_with_a_tree() {
    static const std::vector<std::string> names = test::machines_with_trees();
    const Machine machine = Machine::load(*rc::gen::elementOf(names));
    return machine.topology(std::min(machine.info().nodes, 600U));
}

TEST(row_parts, are_one_where_groups_stay_inside_nodes) {
    EXPECT_EQ(parts_of(three_tiers(), row_of({0}, {{0, 500}})), (Parts{{Kind::on_one_switch, {{0, 500}}}}));
}

TEST(row_parts, tell_neighbours_on_one_switch_from_those_on_two) {
    EXPECT_EQ(parts_of(three_tiers(), row_of({0, 1}, {{0, 130}})),
              (Parts{{Kind::on_one_switch, {{0, 63}, {64, 63}, {128, 2}}},
                     {Kind::single, {{63, 1}}},
                     {Kind::single, {{127, 1}}}}));
}

TEST(row_parts, take_whole_switches_where_groups_lie_switches_apart) {
    EXPECT_EQ(parts_of(three_tiers(), row_of({0, 128}, {{0, 128}})), (Parts{{Kind::on_whole_switches, {{0, 128}}}}));
    EXPECT_EQ(parts_of(three_tiers(), row_of({0, 128}, {{0, 66}})),
              (Parts{{Kind::on_whole_switches, {{0, 64}}}, {Kind::single, {{64, 1}}}, {Kind::single, {{65, 1}}}}));
}

TEST(row_parts, are_single_where_nodes_begin_switches_at_other_moves) {
    for (const auto& [kind, moves] : parts_of(three_tiers(), row_of({0, 130}, {{0, 128}}))) {
        EXPECT_EQ(kind, Kind::single);
    }
}

// The sixteen nodes of a chassis are on one switch by each of their NICs.
TEST(row_parts, of_a_mesh_are_those_on_one_switch_and_single_ones) {
    const Topology frontier = Machine::load("frontier").topology(300);
    EXPECT_EQ(parts_of(frontier, row_of({0, 1}, {{0, 40}})), (Parts{{Kind::on_one_switch, {{0, 15}, {16, 15}, {32, 8}}},
                                                                    {Kind::single, {{15, 1}}},
                                                                    {Kind::single, {{31, 1}}}}));
    for (const auto& [kind, moves] : parts_of(frontier, row_of({0, 128}, {{0, 128}}))) EXPECT_EQ(kind, Kind::single);
}

// What the messages of two groups pass: where they turn, and which share subtrees.
std::vector<std::uint32_t> passed(const Topology& topology, const GroupRow& row, std::uint32_t move) {
    const RouteTree& tree = *topology.router->tree();
    std::vector<std::uint32_t> passed;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> subtrees;  // tier, subtree: of each by its place here
    const std::uint32_t by = move * topology.ranks_per_node;
    for (const RankId from : row.members) {
        for (const RankId to : row.members) {
            if (topology.node_of(from) == topology.node_of(to)) continue;
            const Climb climb = tree.climb(moved(from, by), moved(to, by));
            passed.insert(passed.end(), {climb.turn, climb.leave, climb.enter});
            for (std::uint32_t tier = 1; tier <= climb.turn; ++tier) {
                const std::pair up(tier, tree.subtree(topology.node_of(from) + move, climb.leave, tier));
                const auto known = std::ranges::find(subtrees, up);
                passed.push_back(static_cast<std::uint32_t>(known - subtrees.begin()));
                if (known == subtrees.end()) subtrees.push_back(up);
            }
        }
    }
    return passed;
}

RC_GTEST_PROP(row_parts, hold_every_group_once_and_alike, ()) {
    const Topology topology = one_with_a_tree();
    const std::uint32_t nodes = topology.ranks / topology.ranks_per_node;
    const std::uint32_t size = *rc::gen::inRange(1U, 5U),
                        step = *rc::gen::elementOf(std::vector{1U, 3U, 16U, 32U, 64U});
    RC_PRE((size - 1) * step < nodes);
    GroupRow row;
    const std::uint32_t local = *rc::gen::inRange(0U, topology.ranks_per_node);
    for (std::uint32_t i = 0; i < size; ++i) row.members.push_back(RankId{i * step * topology.ranks_per_node + local});
    row.moves = {{0, *rc::gen::inRange(1U, nodes - (size - 1) * step + 1)}};
    const Circles circles(*topology.router->tree());
    const PartedRow parted(topology, circles, row);
    std::vector<std::uint32_t> seen;
    for (const RowPart& part : parted.parts(true)) {
        for (const NodeRun run : part.moves) {
            for (std::uint32_t i = 0; i < run.count; ++i) {
                seen.push_back(run.first + i);
                RC_ASSERT(passed(topology, row, seen.back()) == passed(topology, row, part.first()));
            }
        }
    }
    std::ranges::sort(seen);
    RC_ASSERT(seen.size() == row.moves.front().count);
    RC_ASSERT(std::ranges::adjacent_find(seen) == seen.end());
    RC_ASSERT(seen.back() + 1 == seen.size());
}

// Subtrees and ways move as a tree's move says, or there is none.
RC_GTEST_PROP(tree_move, is_that_of_every_node, ()) {
    const Topology topology = one_with_a_tree();
    const RouteTree& tree = *topology.router->tree();
    const std::uint32_t nodes = topology.ranks / topology.ranks_per_node;
    RC_PRE(nodes >= 8);
    const std::uint32_t size = *rc::gen::inRange(2U, nodes / 2 + 1);
    const std::uint32_t unit = *rc::gen::elementOf(std::vector{1U, tree.nodes_per_switch()});
    const std::uint32_t by = *rc::gen::inRange(0U, (nodes - size) / unit + 1) * unit;
    GroupRow row;
    for (std::uint32_t node = 0; node < size; ++node) row.members.push_back(RankId{node * topology.ranks_per_node});
    const Circles circles(tree);
    const std::optional<TreeMove> move = tree_move(tree, PartedRow(topology, circles, row), by);
    RC_TAG(move ? "moves" : "does not");
    if (!move) return;
    for (std::uint32_t node = 0; node < size; ++node) {
        for (std::uint32_t nic = 0; nic < tree.nics(); ++nic) {
            for (std::uint32_t tier = 1; tier < tree.tiers(); ++tier) {
                RC_ASSERT(tree.subtree(node + by, nic, tier) == tree.subtree(node, nic, tier) + move->subtree(tier));
            }
        }
    }
    const std::uint32_t ranks = by * topology.ranks_per_node;
    for (std::size_t i = 1; i < row.members.size(); ++i) {
        const Climb before = tree.climb(row.members[i - 1], row.members[i]),
                    after = tree.climb(moved(row.members[i - 1], ranks), moved(row.members[i], ranks));
        RC_ASSERT(after.turn == before.turn);
        RC_ASSERT(tree.way(moved(row.members[i], ranks)) == tree.way(row.members[i]) + move->ways);
    }
}

// How often the groups of a part pass each subtree by each way with a NIC of a node: subtree, way.
using Passed = std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t>;

Passed passed_by(const std::vector<PartedRow::Sweep>& sweeps, std::uint64_t ways) {
    Passed passed;
    for (const PartedRow::Sweep& sweep : sweeps) {
        EXPECT_TRUE(sweep.subtrees == 1 || sweep.rest == 0);
        for (std::uint32_t subtree = sweep.subtree; subtree < sweep.subtree + sweep.subtrees; ++subtree) {
            for (std::uint64_t way = 0; sweep.turns > 0 && way < ways; ++way) passed[{subtree, way}] += sweep.turns;
            for (std::uint64_t i = 0; i < sweep.rest; ++i) ++passed[{subtree, (sweep.shift + i) % ways}];
        }
    }
    return passed;
}

// Twin: group by group.
RC_GTEST_PROP(row_parts, sweep_subtrees_as_their_groups_pass_them, ()) {
    const Topology topology = one_with_a_tree();
    const RouteTree& tree = *topology.fabric();
    const std::uint32_t on_switch = tree.nodes_per_switch(),
                        switches = topology.ranks / topology.ranks_per_node / on_switch;
    RC_PRE(switches >= 4);
    const std::uint32_t apart = *rc::gen::inRange(1U, switches / 2), begin = *rc::gen::inRange(0U, switches / 4 + 1);
    GroupRow row{.members = {RankId{0}, RankId{apart * on_switch * topology.ranks_per_node}}};
    const std::uint32_t first = *rc::gen::inRange(1U, switches - apart + 1), left = switches - apart - first;
    row.moves = {{0, first * on_switch}};
    if (left > begin + 1) row.moves.push_back({(first + begin + 1) * on_switch, (left - begin - 1) * on_switch});
    if (row.moves.back().count == 0) row.moves.pop_back();
    const Circles circles(tree);
    const PartedRow parted(topology, circles, row);
    for (const RowPart& part : parted.parts(true)) {
        if (part.kind != Kind::on_whole_switches) continue;
        for (const std::uint32_t node : parted.nodes()) {
            const std::uint32_t nic = *rc::gen::inRange(0U, tree.nics()), tier = *rc::gen::inRange(1U, tree.tiers());
            const std::uint64_t ways = tree.ways(tier);
            Passed expected;
            for (const NodeRun run : part.moves) {
                for (std::uint32_t move = run.first; move < run.first + run.count; ++move) {
                    const std::uint64_t way = parted.way(move) - parted.way(part.first());
                    ++expected[{tree.subtree(node + move, nic, tier), way % ways}];
                }
            }
            RC_ASSERT(passed_by(parted.sweeps(part, node + part.first(), nic, tier), ways) == expected);
        }
    }
}

}  // namespace
}  // namespace weft
