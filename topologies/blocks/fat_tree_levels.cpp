#include "topologies/blocks/fat_tree_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weft::blocks {

namespace {

constexpr const char* key = "oversubscription";

// NICs on one leaf.
std::uint64_t ports_down(const TreeShape& shape) { return std::uint64_t{shape.nodes_per_leaf} * shape.nics_per_rail; }

// Cables up from one leaf; 0 after an error.
std::uint32_t cables_up(Field& block, const TreeShape& shape) {
    const double factor = block.number(key), up = static_cast<double>(ports_down(shape)) / factor;
    if (!(factor >= 1.0)) {
        block.error(key, fmt::format("expected a factor of 1 or more, got {}", factor));
        return 0;
    }
    const double whole = std::round(up);
    if (whole < 1.0 || whole > 1U << 20U || std::abs(up - whole) > 1e-9 * up) {
        block.error(key, fmt::format("{} NICs on a leaf / {} = {:.6g} cables up, which is no whole number",
                                     ports_down(shape), factor, up));
        return 0;
    }
    return static_cast<std::uint32_t>(whole);
}

// `cables` up to as few parents as have ports for them, of `most` ports for each of these cables.
TreeLevel level_of(std::uint32_t children, std::uint32_t cables, std::uint32_t most, LinkClassId link) {
    std::uint32_t each = std::clamp(most, 1U, cables);
    while (cables % each != 0) --each;
    return {.children = children, .parents = cables / each, .cables = each, .link_class = link};
}

}  // namespace

std::vector<TreeLevel> derived_levels(Field& block, const TreeShape& shape, LinkClassId link, NetworkSize size) {
    const std::vector<TreeLevel> none(1, TreeLevel{});
    const std::uint32_t radix = block.count("radix"), up = cables_up(block, shape);
    if (up == 0 || radix == 0 || block.has_errors()) return none;
    const std::uint64_t down = ports_down(shape);
    if (down + up > radix) {
        block.error(key, fmt::format("a leaf needs {} ports ({} NICs, {} cables up), but its radix is {}", down + up,
                                     down, up, radix));
        return none;
    }
    const bool by_rail = shape.order == LeafOrder::rail;
    const std::uint32_t units = divide_up(size.nodes, shape.nodes_per_leaf);
    const std::uint64_t leaves = std::uint64_t{units} * shape.rails;
    const std::uint64_t together = by_rail ? units : leaves;  // that one level of spines can join
    if (together <= radix && (!by_rail || shape.rails == 1 || size.pxn == Pxn::on)) {
        const auto children = static_cast<std::uint32_t>(together);
        return {level_of(children, up, radix / children, link)};
    }
    const std::uint32_t half = radix / 2;
    const auto below = static_cast<std::uint32_t>(std::min<std::uint64_t>(half, together));
    const std::uint64_t blocks = (together + below - 1) / below * (by_rail ? shape.rails : 1);
    if (blocks > radix) {
        block.error(key,
                    fmt::format("two levels of switches of {} ports join {} leaves with {} cables up, and {} nodes "
                                "have {}",
                                radix, std::uint64_t{half} * radix, up, size.nodes, leaves));
        return none;
    }
    const auto children = static_cast<std::uint32_t>(blocks);
    const TreeLevel spines = level_of(below, up, half / below, link);
    return {spines, level_of(children, below * spines.cables, radix / children, link)};
}

void thin_leaves(Field& block, const TreeShape& shape, std::vector<TreeLevel>& levels) {
    const std::uint32_t up = cables_up(block, shape);
    TreeLevel& lowest = levels.front();
    if (up == 0) return;
    if (up > lowest.ports_up()) {
        block.error(key, fmt::format("{} NICs on a leaf would have {} cables up, and these levels have only {}",
                                     ports_down(shape), up, lowest.ports_up()));
        return;
    }
    std::uint32_t cables = 1;
    while (up % cables != 0 || up / cables > lowest.parents) ++cables;  // as many spines as before, where that can be
    lowest.cables = cables;
    lowest.parents = up / cables;
}

}  // namespace weft::blocks
