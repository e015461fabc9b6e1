#include "sim/collective/tree_move.hpp"

#include <algorithm>

namespace weft {
namespace {

// Calls visit(node) for a node on every switch that the row's nodes are plugged into with their first NICs.
template <class Visit>
void for_each_switch(const PartedRow& row, std::uint32_t on_switch, Visit visit) {
    std::uint32_t last = ~0U;
    const auto look_at = [&](std::uint32_t node) {
        if (node / on_switch != last) visit(node);
        last = node / on_switch;
    };
    for (const std::uint32_t node : row.nodes()) {
        for (const NodeRun run : row.groups().moves) {
            for (std::uint32_t i = 0; i < run.count; i += on_switch) look_at(node + run.first + i);
            look_at(node + run.first + run.count - 1);
        }
    }
}

}  // namespace

std::optional<TreeMove> tree_move(const Topology& topology, const PartedRow& row, std::uint32_t nodes) {
    const RouteTree& tree = *topology.router->tree();
    const std::uint32_t on_switch = tree.nodes_per_switch();
    if (nodes % on_switch != 0) return {};
    TreeMove move{.nodes = nodes};
    bool is_even = true;
    for_each_switch(row, on_switch, [&](std::uint32_t node) {
        for (std::uint32_t tier = 1; tier < tree.tiers(); ++tier) {
            for (std::uint32_t nic = 0; nic < tree.nics(); ++nic) {
                const std::uint32_t by = tree.subtree(node + nodes, nic, tier) - tree.subtree(node, nic, tier);
                if (move.subtrees.size() < tier) move.subtrees.push_back(by);
                is_even &= move.subtrees[tier - 1] == by;
            }
        }
    });
    if (!is_even) return {};
    if (row.nodes().size() > 1) move.ways = row.way(nodes) - row.way(0);
    return move;
}

}  // namespace weft
