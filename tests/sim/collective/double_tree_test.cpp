#include "sim/collective/double_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::collective {
namespace {

TEST(double_tree, is_as_deep_as_its_closed_form) {
    for (std::uint32_t nodes = 1; nodes <= 300; ++nodes) {
        std::uint32_t depth = 0;
        for (const std::uint32_t tree : {0U, 1U}) {
            for (const std::uint32_t d : tree_depths(tree_parents(nodes, tree))) depth = std::max(depth, d);
        }
        EXPECT_EQ(double_tree_depth(nodes), depth) << nodes;
    }
}

// Which lets each node send the message once, whatever the number of nodes.
TEST(double_tree, gives_children_to_a_node_in_one_tree_only) {
    for (std::uint32_t nodes = 2; nodes <= 130; ++nodes) {
        std::vector<int> trees(nodes, 0);
        std::uint32_t in_both = 0;
        for (const std::uint32_t tree : {0U, 1U}) {
            std::vector<bool> has_child(nodes, false);
            for (const std::uint32_t parent : tree_parents(nodes, tree)) {
                if (parent != no_parent) has_child[parent] = true;
            }
            for (std::uint32_t node = 0; node < nodes; ++node) trees[node] += has_child[node] ? 1 : 0;
        }
        in_both = static_cast<std::uint32_t>(std::ranges::count(trees, 2));
        EXPECT_LE(in_both, 2U) << nodes;  // the roots
    }
}

}  // namespace
}  // namespace weft::collective
