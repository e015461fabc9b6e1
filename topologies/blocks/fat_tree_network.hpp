// The switches of a fat tree and the links between them: an extended generalised fat tree (Ohring et al., IPPS 1995).
//
// A switch of level l + 1 has `children` switches below it; a switch of level l has `parents` above it, each by
// `cables` equal cables. With c_l children and p_l parents, switch (H, W) of level l stands above leaves
// H c_2..c_l to (H+1) c_2..c_l - 1, and W = 0 .. p_2..p_l - 1 tells it from the others above the same leaves. Its
// parent number d is (H / c_(l+1), W p_(l+1) + d): all routes are arithmetic on these digits.
//
// Numbering: switches level by level from the leaves, H (p_2..p_l) + W inside a level. Links level by level, for every
// switch and every cable up (d cables + k): up, then down.
//
// Routes go up to the lowest common level and down again. The cable up is D-mod-k (Zahavi et al., "D-Mod-K Routing
// Providing Non-Blocking Traffic for Shift Permutations on Real Life Fat Trees", 2010): the destination's number
// decides, so that traffic to different NICs of one leaf spreads evenly over the spines; the salt rotates the choice.
// Detours are other paths up to the same level, spread evenly over all of them: what adaptive switches choose among.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "topologies/blocks/block.hpp"

namespace weft::blocks {

struct TreeLevel {
    std::uint32_t children = 1, parents = 1, cables = 1;
    LinkClassId link_class{};
    std::uint32_t ports_up() const { return parents * cables; }
    // The cable of a choice, parent by parent: choices one apart go to different parents.
    std::uint32_t port(std::uint64_t choice) const {
        const auto digit = static_cast<std::uint32_t>(choice % ports_up());
        return digit % parents * cables + digit / parents;
    }
};

enum class LeafOrder : std::uint8_t { unit, rail };

struct TreeShape {
    std::uint32_t nodes_per_leaf = 1, rails = 1;
    std::uint32_t nics_per_rail = 1;  // of one node
    LeafOrder order = LeafOrder::unit;
    std::uint32_t units_per_block = 1;  // units whose leaves of one rail are neighbours
    LinkClassId port{};
    std::vector<TreeLevel> levels;
};

// How a tree is built for more nodes than its levels join: by more of the same leaves, with as many cables up, and
// switches of `radix` ports above them.
struct TreeGrowth {
    TreeShape shape;
    std::uint32_t radix = 0;
    Pxn pxn = Pxn::off;

    // As many levels, or those that follow from the leaves. Nothing where two levels of such switches do not join the
    // nodes.
    std::optional<TreeShape> for_nodes(std::uint32_t nodes) const;
    std::uint32_t most_nodes() const;
};

// Above `nodes` nodes, which the levels join to one tree.
std::unique_ptr<const Network> make_fat_tree(TreeShape shape, std::uint32_t nodes,
                                             std::optional<TreeGrowth> growth = {});

}  // namespace weft::blocks
