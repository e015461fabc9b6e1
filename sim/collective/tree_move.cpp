#include "sim/collective/tree_move.hpp"

#include <algorithm>

namespace weft {
namespace {

// Calls visit(node) for a node on every switch that the row's nodes are plugged into with their first NICs.
template <class Visit>
void for_each_switch(const PartedRow& row, std::uint32_t on_switch, Visit visit) {
    std::uint32_t first = 0, end = 0;  // nodes of the switch looked at
    const auto look_at = [&](std::uint32_t node) {
        if (node >= first && node < end) return;
        visit(node);
        first = node / on_switch * on_switch;
        end = first + on_switch;
    };
    const std::vector<std::uint32_t>& nodes = row.nodes();
    for (auto node = nodes.begin(); node != nodes.end();) {
        for (const NodeRun run : row.groups().moves) {
            for (std::uint32_t i = 0; i < run.count; i += on_switch) look_at(*node + run.first + i);
            look_at(*node + run.first + run.count - 1);
        }
        // The next nodes are on this switch, too; where there are several moves, not so after each of them.
        node = row.groups().nodewise() == 1 ? std::lower_bound(node, nodes.end(), end) : std::next(node);
    }
}

}  // namespace

std::optional<TreeMove> tree_move(const RouteTree& tree, const PartedRow& row, std::uint32_t nodes) {
    const Circles& circles = row.circles();
    const std::uint32_t on_switch = tree.nodes_per_switch();
    if (nodes % on_switch != 0 || (tree.has_mesh() && row.nodes().size() > 1)) return {};
    TreeMove move{.nodes = nodes};
    bool is_even = true;
    for_each_switch(row, on_switch, [&](std::uint32_t node) {
        const std::span<const std::uint32_t> before = circles.subtrees(node), after = circles.subtrees(node + nodes);
        const std::uint32_t tiers = tree.tiers() - 1;
        if (move.subtrees.empty()) {
            for (std::uint32_t tier = 0; tier < tiers; ++tier) move.subtrees.push_back(after[tier] - before[tier]);
        }
        for (std::size_t i = 0; i < before.size(); i += tiers) {
            for (std::uint32_t t = 0; t < tiers; ++t) is_even &= after[i + t] - before[i + t] == move.subtrees[t];
        }
    });
    if (!is_even) return {};
    if (row.nodes().size() > 1) move.ways = row.way(nodes) - row.way(0);
    return move;
}

}  // namespace weft
