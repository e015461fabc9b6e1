// How nodes, ways and subtrees of a RouteTree move together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/collective/circle.hpp"
#include "sim/collective/row_parts.hpp"
#include "sim/topology/route_tree.hpp"

namespace weft {

struct TreeMove {
    std::uint32_t nodes = 0;
    std::uint64_t ways = 0;                 // that lead to a node
    std::vector<std::uint32_t> subtrees{};  // by tier, from 1; none: they stay

    bool operator==(const TreeMove&) const = default;
    std::uint32_t subtree(std::uint32_t tier) const { return subtrees.empty() ? 0 : subtrees[tier - 1]; }
    std::uint32_t circle(const Circles& circles, std::uint32_t circle) const {
        return circle + 2 * subtree(circles.tier(circle));
    }
};

// By how much everything moves that the messages in the groups of a row pass, where every node of these moves up by
// `nodes`. Nothing where that is not the same everywhere, as on a mesh, unless the groups stay inside nodes.
std::optional<TreeMove> tree_move(const RouteTree& tree, const PartedRow& row, std::uint32_t nodes);

}  // namespace weft
