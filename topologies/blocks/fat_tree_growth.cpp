// Which levels of switches stand above leaves, by how many these are.
//
// Above leaves of d NICs and u cables up, with switches of `radix` ports, for L leaves that must be joined (with leaf
// order "rail" those of one rail, where PXN leaves messages on their rail):
//   - L <= radix: one level of spines, each cabled to every leaf.
//   - else two: below, spines with half their ports down, to radix / 2 leaves, and as many up; above, cores with all
//     ports down, each cabled to a spine of every block of leaves.
// Where switches have ports left for two or more cables to each neighbour, fewer switches with more cables are taken.
#include <algorithm>
#include <span>
#include <utility>

#include "topologies/blocks/fat_tree_network.hpp"

namespace weft::blocks {
namespace {

// `cables` up to as few parents as have ports for them, of `most` ports for each of these cables.
TreeLevel level_of(std::uint32_t children, std::uint32_t cables, std::uint32_t most, LinkClassId link) {
    std::uint32_t each = std::clamp(most, 1U, cables);
    while (cables % each != 0) --each;
    return {.children = children, .parents = cables / each, .cables = each, .link_class = link};
}

}  // namespace

std::optional<std::vector<TreeLevel>> derive_levels(const TreeShape& shape, std::uint32_t up, std::uint32_t radix,
                                                    LinkClassId low, LinkClassId high, std::uint32_t nodes, Pxn pxn) {
    const bool by_rail = shape.order == LeafOrder::rail;
    const std::uint32_t units = divide_up(nodes, shape.nodes_per_leaf);
    const std::uint64_t leaves = std::uint64_t{units} * shape.rails;
    const std::uint64_t together = by_rail ? units : leaves;  // that one level of spines can join
    if (together <= radix && (!by_rail || shape.rails == 1 || pxn == Pxn::on)) {
        const auto children = static_cast<std::uint32_t>(together);
        return std::vector{level_of(children, up, radix / children, low)};
    }
    const std::uint32_t half = radix / 2;
    const auto below = static_cast<std::uint32_t>(std::min<std::uint64_t>(half, together));
    const std::uint64_t blocks = (together + below - 1) / below * (by_rail ? shape.rails : 1);
    if (blocks > radix) return std::nullopt;
    const auto children = static_cast<std::uint32_t>(blocks);
    const TreeLevel spines = level_of(below, up, half / below, low);
    return std::vector{spines, level_of(children, below * spines.cables, radix / children, high)};
}

// Nodes of one block whose messages keep to the rails that they leave by (PXN) need no switch above the spines of a
// rail.
std::uint64_t separate_trees(const TreeShape& shape, std::uint32_t nodes, Pxn pxn) {
    const std::uint32_t units = divide_up(nodes, shape.nodes_per_leaf);
    const bool by_rail = shape.order == LeafOrder::rail && !shape.levels.empty();
    const std::uint64_t per_block = by_rail ? std::min(units, shape.levels.front().children) : 1;
    const std::uint64_t blocks = (units + per_block - 1) / per_block;
    if (blocks == 1 && pxn == Pxn::on) return 1;
    std::uint64_t trees = blocks * shape.rails;  // above what a block shares: its lowest spines, or a leaf
    for (const TreeLevel& level : std::span(shape.levels).subspan(by_rail ? 1 : 0)) {
        trees = (trees + level.children - 1) / level.children;
    }
    return trees;
}

std::optional<TreeShape> TreeGrowth::for_nodes(std::uint32_t nodes) const {
    if (separate_trees(shape, nodes, pxn) == 1) return shape;
    const TreeLevel& lowest = shape.levels.front();
    auto levels =
        derive_levels(shape, lowest.ports_up(), radix, lowest.link_class, shape.levels.back().link_class, nodes, pxn);
    if (!levels) return std::nullopt;
    TreeShape larger = shape;
    larger.levels = *std::move(levels);
    return larger;
}

std::uint32_t TreeGrowth::most_nodes() const {
    const std::uint64_t blocks = shape.order == LeafOrder::rail ? radix / shape.rails : radix;
    const std::uint64_t leaves = blocks * (radix / 2);
    const std::uint64_t units = shape.order == LeafOrder::rail ? leaves : leaves / shape.rails;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(units * shape.nodes_per_leaf, 1U << 24U));
}

}  // namespace weft::blocks
