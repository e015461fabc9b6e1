#include "topologies/block_tree.hpp"

#include "topologies/block_router.hpp"

namespace weft {

Climb BlockTree::climb(RankId from, RankId to) const {
    const Port leave = router_.port(from, to), enter = router_.port(to);
    if (tree_ == nullptr) {
        const bool stays = network_.leaf(leave) == network_.leaf(enter);
        return {.turn = stays ? 0U : 1U, .leave = leave.nic, .enter = enter.nic};
    }
    return {.turn = tree_->turn(leave, enter), .leave = leave.nic, .enter = enter.nic};
}

std::uint64_t BlockTree::way(RankId to) const { return tree_ == nullptr ? 0 : tree_->way(router_.port(to)); }

Route BlockTree::leaving(RankId from, RankId to) const {
    Route route;
    router_.leave(route, from, router_.port(from, to));
    return route;
}

Route BlockTree::entering(RankId /*from*/, RankId to) const {
    Route route;
    router_.enter(route, to, router_.port(to));
    return route;
}

std::vector<RouteTree::Range> BlockTree::links(Place place) const {
    if (place.tier > 0) {
        const Range range = tree_->links(place);
        return {{numbering_.network_link(range.first), numbering_.network_link(range.end)}};
    }
    const std::uint32_t node = place.subtree;
    return {{numbering_.link(node, LinkId{0}), numbering_.link(node + 1, LinkId{0})},
            {numbering_.up({node, 0}), numbering_.up({node + 1, 0})}};
}

RouteTree::Range BlockTree::mesh() const {
    if (tree_ != nullptr) return {};
    std::uint32_t links = 0;
    for (const LinkRun& run : network_.links()) links += run.links;
    return {numbering_.network_link(LinkId{0}), numbering_.network_link(LinkId{links})};
}

}  // namespace weft
