// A fat tree: levels of switches above the NICs, an extended generalised fat tree (Ohring et al., IPPS 1995).
// Levels are written out, or follow from "oversubscription", NICs of a leaf for each of its cables up (derived_levels
// has the rule).
//
// With "grows": true a job may ask for more nodes than the levels join: the leaves stay as they are, levels above them
// are then made by that rule, for as many cables up.
//
// Beside levels, "oversubscription" takes cables from the leaves until it is so. "levels": [] is one switch for all
// nodes, or with rails one for each: a rail-only network, whose messages change rails inside nodes (PXN). Rails with
// levels that join those of one rail only are planes of a network.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "topologies/blocks/fat_tree_network.hpp"

namespace weft::blocks {
namespace {

// Which levels of switches stand above leaves, by how many these are.
//
// Above leaves of d NICs and u cables up, with switches of `radix` ports, for L leaves that must be joined (with leaf
// order "rail" those of one rail, where PXN leaves messages on their rail):
//   - L <= radix: one level of spines, each cabled to every leaf.
//   - else two: below, spines with half their ports down, to radix / 2 leaves, and as many up; above, cores with all
//     ports down, each cabled to a spine of every block of leaves.
// Where switches have ports left for two or more cables to each neighbour, fewer switches with more cables are taken.

// `cables` up to as few parents as have ports for them, of `most` ports for each of these cables.
TreeLevel level_of(std::uint32_t children, std::uint32_t cables, std::uint32_t most, LinkClassId link) {
    std::uint32_t each = std::clamp(most, 1U, cables);
    while (cables % each != 0) --each;
    return {.children = children, .parents = cables / each, .cables = each, .link_class = link};
}

// Above leaves of `up` cables each, for so many nodes, by the rule of "oversubscription"; the higher level is of
// `high`. Nothing where two levels of switches of `radix` ports do not join them.
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

// To how many trees the levels of `shape` join what they stand above: 1 where these nodes can send to each other.
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

constexpr const char* key = "oversubscription";

// NICs on one leaf.
std::uint64_t ports_down(const TreeShape& shape) { return std::uint64_t{shape.nodes_per_leaf} * shape.nics_per_rail; }

// Cables up from one leaf; 0 after an error.
std::uint32_t cables_up(Field& block, const TreeShape& shape) {
    const double factor = block.number(key), up = static_cast<double>(ports_down(shape)) / factor;
    if (!(factor >= 1.0)) {
        block.error(key, "expected a factor of 1 or more, got {}", factor);
        return 0;
    }
    const double whole = std::round(up);
    if (whole < 1.0 || whole > 1U << 20U || std::abs(up - whole) > 1e-9 * up) {
        block.error(key, "{} NICs on a leaf / {} = {:.6g} cables up, which is no whole number", ports_down(shape),
                    factor, up);
        return 0;
    }
    return static_cast<std::uint32_t>(whole);
}

// Oversubscription: NICs on a leaf per cable up from it. `shape` has all but levels; `block` is the network's object.
// Mistakes are recorded at "oversubscription", levels are then one of no use.
std::vector<TreeLevel> derived_levels(Field& block, const TreeShape& shape, LinkClassId link, NetworkSize size) {
    const std::vector<TreeLevel> none(1, TreeLevel{});
    const std::uint32_t radix = block.count("radix"), up = cables_up(block, shape);
    if (up == 0 || radix == 0 || block.has_errors()) return none;
    const std::uint64_t down = ports_down(shape);
    if (down + up > radix) {
        block.error(key, "a leaf needs {} ports ({} NICs, {} cables up), but its radix is {}", down + up, down, up,
                    radix);
        return none;
    }
    const auto levels = derive_levels(shape, up, radix, link, link, size.nodes, size.pxn);
    if (levels) return *levels;
    block.error(key, "two levels of switches of {} ports join {} leaves with {} cables up, and {} nodes have {}", radix,
                std::uint64_t{radix / 2} * radix, up, size.nodes,
                std::uint64_t{divide_up(size.nodes, shape.nodes_per_leaf)} * shape.rails);
    return none;
}

// Takes cables, and then spines, from the leaves of `levels` until the oversubscription is as given.
void thin_leaves(Field& block, const TreeShape& shape, std::vector<TreeLevel>& levels) {
    const std::uint32_t up = cables_up(block, shape);
    TreeLevel& lowest = levels.front();
    if (up == 0) return;
    if (up > lowest.ports_up()) {
        block.error(key, "{} NICs on a leaf would have {} cables up, and these levels have only {}", ports_down(shape),
                    up, lowest.ports_up());
        return;
    }
    std::uint32_t cables = 1;
    while (up % cables != 0 || up / cables > lowest.parents) ++cables;  // as many spines as before, where that can be
    lowest.cables = cables;
    lowest.parents = up / cables;
}

// The largest number of levels whose routes, with the links through both nodes, fit in a Route.
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
        block.error("levels", "expected at most {} levels above the leaves, got {}", most_levels, levels.size());
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
        block.error_if(down + up > radix, "radix", "a switch of level {} needs {} ports ({} down, {} up), but has {}",
                       l, down + up, down, up, radix);
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
    block.error(levels_key(block), "these levels have {:.3g} links, more than {:.0f}", links, most_links);
}

void check_one_tree(Field& block, const TreeShape& shape, NetworkSize size) {
    const std::uint64_t trees = separate_trees(shape, size.nodes, size.pxn);
    if (trees == 1) return;
    const std::uint32_t units = divide_up(size.nodes, shape.nodes_per_leaf);
    const bool by_rail = shape.order == LeafOrder::rail && !shape.levels.empty();
    const bool of_a_block = units <= (by_rail ? shape.levels.front().children : 1);
    block.error(levels_key(block), "{} nodes have {} leaf switches, which these levels join to {} separate trees{}",
                size.nodes, std::uint64_t{units} * shape.rails, trees,
                of_a_block ? "; add a level above the rails, or let messages change rails inside the node (\"pxn\": "
                             "true of its \"nics\")"
                           : "");
}

// "grows": true.
std::optional<TreeGrowth> read_growth(Field& block, const TreeShape& shape, NetworkSize size) {
    if (!block.flag("grows", false)) return std::nullopt;
    if (shape.levels.empty()) block.error("grows", "there are no levels that could grow");
    if (block.has_errors()) return std::nullopt;
    return TreeGrowth{.shape = shape, .radix = block.count("radix"), .pxn = size.pxn};
}

std::unique_ptr<const Network> read_fat_tree(Field block, const LinkClasses& classes, NetworkSize size) {
    block.text("source", "");
    TreeShape shape;
    shape.nodes_per_leaf = block.count("nodes_per_leaf");
    shape.rails = block.count("rails", 1);
    shape.nics_per_rail = divide_up(size.nics_per_node, shape.rails);
    block.error_if(shape.rails > size.nics_per_node, "rails", "{} rails, but a node has {} NICs", shape.rails,
                   size.nics_per_node);
    shape.order = block.enumerator("leaf_order", LeafOrder::unit);
    shape.port = classes.read(block, "port");
    shape.levels = read_levels(block, classes, shape, size);
    check_radix(block, shape);
    std::optional<TreeGrowth> growth = read_growth(block, shape, size);
    if (std::optional<TreeShape> larger = growth ? growth->for_nodes(size.nodes) : std::nullopt) shape = *larger;
    check_size(block, shape, size.nodes);
    check_one_tree(block, shape, size);
    block.done();
    return make_fat_tree(std::move(shape), size.nodes, std::move(growth));
}

}  // namespace

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

extern const BlockKind fat_tree{.name = "fat_tree", .read_network = read_fat_tree};

}  // namespace weft::blocks
