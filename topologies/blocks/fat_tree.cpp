// A fat tree: levels of switches above the NICs, an extended generalised fat tree (Ohring et al., IPPS 1995).
//
//   "network": {
//     "kind": "fat_tree",
//     "nodes_per_leaf": 20, "rails": 8,  // NIC i of each node of a unit of 20 nodes: leaf switch i of the unit
//     "leaf_order": "rail",              // which leaves are neighbours below a spine: those of a "rail" or of a "unit"
//     "radix": 40,                       // ports of a switch: what is wired must fit
//     "port": "infiniband.nic",
//     "levels": [                        // above the leaves, from below
//       { "link": "infiniband.leaf_spine", "children": 10, "parents": 10, "cables": 2 },
//       { "link": "infiniband.spine_core", "children": 24, "parents": 20 }
//     ],
//     "source": "..."
//   }
//
// Or the levels follow from how many NICs a leaf has for each of its cables up (fat_tree_levels.hpp has the rule):
//
//     "oversubscription": 2, "link": "infiniband.leaf_spine"  // in place of "levels"
//
// Beside levels, "oversubscription" takes cables from the leaves until it is so. "levels": [] is one switch for all
// nodes, or with rails one for each: a rail-only network, whose messages change rails inside nodes (PXN). Rails with
// levels that join those of one rail only are planes of a network.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "topologies/blocks/fat_tree_levels.hpp"
#include "topologies/blocks/fat_tree_network.hpp"

namespace weft::blocks {

namespace {

// The largest number of levels whose routes, with the ways through both nodes, fit in a Route.
constexpr std::size_t most_levels = 3;

std::vector<TreeLevel> read_levels(Field& block, const LinkClasses& classes, const TreeShape& shape, NetworkSize size) {
    const bool thinned = block.has("oversubscription");
    if (thinned && !block.has("levels")) return derived_levels(block, shape, classes.read(block, "link"), size);
    std::vector<TreeLevel> levels;
    for (Field& field : block.list("levels")) {
        levels.push_back({.children = field.count("children"),
                          .parents = field.count("parents"),
                          .cables = field.count("cables", 1),
                          .link_class = classes.read(field, "link")});
        field.done();
    }
    if (levels.size() > most_levels) {
        block.error("levels",
                    fmt::format("expected at most {} levels above the leaves, got {}", most_levels, levels.size()));
        levels.assign(1, TreeLevel{});
    } else if (thinned && levels.empty()) {
        block.error("levels", "there are no levels whose cables \"oversubscription\" could thin");
    } else if (thinned) {
        thin_leaves(block, shape, levels);
    }
    return levels;
}

void check_radix(Field& block, const TreeShape& shape) {
    const std::uint32_t radix = block.count("radix");
    std::uint64_t down = std::uint64_t{shape.nodes_per_leaf} * shape.nics_per_rail;
    for (std::size_t l = 0; l <= shape.levels.size(); ++l) {
        const std::uint64_t up =
            l < shape.levels.size() ? std::uint64_t{shape.levels[l].parents} * shape.levels[l].cables : 0;
        if (down + up > radix) {
            block.error("radix", fmt::format("a switch of level {} needs {} ports ({} down, {} up), but has {}", l,
                                             down + up, down, up, radix));
        }
        if (l < shape.levels.size()) down = std::uint64_t{shape.levels[l].children} * shape.levels[l].cables;
    }
}

// What says the levels.
std::string_view levels_key(Field& block) { return block.has("levels") ? "levels" : "oversubscription"; }

// Counted in doubles, which hold what the numbers of links may not.
void check_size(Field& block, const TreeShape& shape, std::uint32_t nodes) {
    constexpr double most_links = 1U << 30U;
    double trees = static_cast<double>(divide_up(nodes, shape.nodes_per_leaf)) * shape.rails, spines = 1, links = 0;
    for (const TreeLevel& level : shape.levels) {
        spines *= level.parents;
        links += 2 * trees * spines * level.cables;
        trees = std::ceil(trees / level.children);
    }
    if (links <= most_links) return;
    block.error(levels_key(block), fmt::format("these levels have {:.3g} links, more than {:.0f}", links, most_links));
}

// Nodes of one block whose messages keep to the rails that they leave by (PXN) need no switch above the spines of a
// rail.
void check_joined(Field& block, const TreeShape& shape, NetworkSize size) {
    const std::uint32_t units = divide_up(size.nodes, shape.nodes_per_leaf);
    const bool by_rail = shape.order == LeafOrder::rail && !shape.levels.empty();
    const std::uint64_t per_block = by_rail ? std::min(units, shape.levels.front().children) : 1;
    const std::uint64_t blocks = (units + per_block - 1) / per_block;
    std::uint64_t trees = blocks * shape.rails;  // above what a block shares: its lowest spines, or a leaf
    for (const TreeLevel& level : std::span(shape.levels).subspan(by_rail ? 1 : 0)) {
        trees = (trees + level.children - 1) / level.children;
    }
    if (trees == 1 || (blocks == 1 && size.pxn == Pxn::on)) return;
    block.error(levels_key(block),
                fmt::format("{} nodes have {} leaf switches, which these levels join to {} separate trees{}",
                            size.nodes, std::uint64_t{units} * shape.rails, trees,
                            blocks == 1 ? "; add a level above the rails, or let messages change rails "
                                          "inside the node (\"pxn\": true of its \"nics\")"
                                        : ""));
}

std::unique_ptr<const Network> read(Field block, const LinkClasses& classes, NetworkSize size) {
    block.text("source", "");
    TreeShape shape;
    shape.nodes_per_leaf = block.count("nodes_per_leaf");
    shape.rails = block.count("rails", 1);
    shape.nics_per_rail = divide_up(size.nics_per_node, shape.rails);
    if (shape.rails > size.nics_per_node) {
        block.error("rails", fmt::format("{} rails, but a node has {} NICs", shape.rails, size.nics_per_node));
    }
    const std::string order = block.choice("leaf_order", {"unit", "rail"}, "unit");
    shape.order = order == "rail" ? LeafOrder::rail : LeafOrder::unit;
    shape.port = classes.read(block, "port");
    shape.levels = read_levels(block, classes, shape, size);
    check_radix(block, shape);
    check_size(block, shape, size.nodes);
    check_joined(block, shape, size);
    block.done();
    return make_fat_tree(std::move(shape), size.nodes);
}

}  // namespace

extern const BlockKind fat_tree;
const BlockKind fat_tree{.name = "fat_tree", .read_network = read};

}  // namespace weft::blocks
