// Two binary trees over the same nodes in which every node but the roots has children in at most one, so that with half
// of the message in each, all nodes send and receive about the same (Sanders, Speck and Traeff, "Two-tree algorithms
// for full bandwidth broadcast, reduction and scan", Parallel Computing 35 (2009) 581-594).
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {

constexpr std::uint32_t no_parent = 0xffffffff;

// The parent of every one of n nodes in tree 0 or 1. In tree 0, node r > 0 with lowest set bit b hangs below the node
// that has b cleared and 2 b set, or only b cleared if that one does not exist: odd nodes are leaves. Tree 1 is its
// mirror image for an even n, and is shifted by one for an odd n: even nodes are leaves.
inline std::vector<std::uint32_t> tree_parents(std::uint32_t n, std::uint32_t tree) {
    const auto in_tree_0 = [n](std::uint32_t r) {
        if (r == 0) return no_parent;
        const std::uint32_t lowest = std::uint32_t{1} << std::countr_zero(r);
        const std::uint32_t above = (r ^ lowest) | (lowest << 1);
        return above < n ? above : r ^ lowest;
    };
    const auto swapped = [n](std::uint32_t r) { return n % 2 == 0 ? n - 1 - r : (r + n - 1) % n; };
    const auto back = [n](std::uint32_t r) { return n % 2 == 0 ? n - 1 - r : (r + 1) % n; };
    std::vector<std::uint32_t> parents(n);
    for (std::uint32_t r = 0; r < n; ++r) {
        const std::uint32_t parent = in_tree_0(tree == 0 ? r : swapped(r));
        parents[r] = tree == 0 || parent == no_parent ? parent : back(parent);
    }
    return parents;
}

// Edges from every node to the root, 0 for the root.
inline std::vector<std::uint32_t> tree_depths(const std::vector<std::uint32_t>& parents) {
    std::vector<std::uint32_t> depths(parents.size());
    for (std::size_t r = 0; r < parents.size(); ++r) {
        for (std::uint32_t at = parents[r]; at != no_parent; at = parents[at]) ++depths[r];
    }
    return depths;
}

// Edges from the farthest node of either tree to its root: below node 0 hangs the largest power of two below `nodes`,
// and below that a balanced tree.
constexpr std::uint32_t double_tree_depth(std::uint32_t nodes) {
    return static_cast<std::uint32_t>(std::bit_width(nodes - 1));
}

// Both trees among the first `places` members of every node of m, place by place, with `weight` on each.
inline void append_tree_edges(std::vector<Edge>& edges, std::uint32_t nodes, std::uint32_t m, std::uint32_t places,
                              double weight) {
    for (const std::uint32_t tree : {0U, 1U}) {
        const std::vector<std::uint32_t> parents = tree_parents(nodes, tree);
        for (std::uint32_t i = 0; i < nodes * m; ++i) {
            if (parents[i / m] == no_parent || i % m >= places) continue;
            const std::uint32_t parent = parents[i / m] * m + i % m;
            edges.push_back({i, parent, weight});
            edges.push_back({parent, i, weight});
        }
    }
}

// A round of one level of these trees: tree t carries chunk 2 p + t at place p.
inline void append_tree_level(std::vector<Transfer>& transfers, std::uint32_t nodes, std::uint32_t m,
                              std::uint32_t places, std::uint32_t depth, bool up) {
    const std::uint32_t round = rounds_of(transfers);
    for (const std::uint32_t tree : {0U, 1U}) {
        const std::vector<std::uint32_t> parents = tree_parents(nodes, tree);
        const std::vector<std::uint32_t> depths = tree_depths(parents);
        for (std::uint32_t i = 0; i < nodes * m; ++i) {
            if (depths[i / m] != depth || i % m >= places) continue;
            const std::uint32_t parent = parents[i / m] * m + i % m;
            transfers.push_back({round, up ? i : parent, up ? parent : i, 2 * (i % m) + tree, up});
        }
    }
}

}  // namespace weft::collective
