// What the hops of channels through a node occupy, by the routes of a topology.
#include <algorithm>
#include <cmath>

#include "topologies/channel_search.hpp"

namespace weft {
namespace {

// Femtoseconds per mebibyte: integers whose rounding does not matter for any link of this century. Links of less than
// 15 MB/s are taken for as fast as that, so that the sums of a search (below 2^17 uses) fit. Libraries read the rates
// that ports have come up with, and lay channels past a slow one where that carries more.
LinkUse use_of(const Topology& topology, LinkId link) {
    constexpr double most = 70'368'744'177'664;  // 2^46
    return {link, std::llround(std::min(1e15 * 1048576.0 / topology.link(link).bandwidth.value, most))};
}

HopUses uses_of(const Topology& topology, std::span<const LinkId> links) {
    HopUses uses;
    for (const LinkId link : links) uses.push_back(use_of(topology, link));
    return uses;
}

// The part of a route up to the link that leaves the node, and from the link that enters the other one. Where links are
// dead these need not be the up- and downlink of the rank.
std::size_t links_out(const Topology& topology, std::span<const LinkId> links) {
    const auto enters_network = [&](LinkId link) {
        return topology.node_kind(topology.head(link)) == NodeKind::network_switch;
    };
    return static_cast<std::size_t>(std::ranges::find_if(links, enters_network) - links.begin()) + 1;
}
HopUses leaving(const Topology& topology, const Router& router, RankId from, RankId to) {
    const Route route = router.route(from, to, 0);
    return uses_of(topology, route.links().first(links_out(topology, route.links())));
}
HopUses entering(const Topology& topology, const Router& router, RankId from, RankId to) {
    const Route route = router.route(from, to, 0);
    const auto leaves_network = [&](LinkId link) {
        return topology.node_kind(topology.head(link)) != NodeKind::network_switch;
    };
    const auto links = route.links();
    const auto after = links.subspan(links_out(topology, links));
    const auto down = std::ranges::find_if(after, leaves_network);
    return uses_of(topology, after.subspan(static_cast<std::size_t>(down - after.begin())));
}

}  // namespace

RankId rank_at(const Topology& topology, std::uint32_t node, std::uint32_t local) {
    return RankId(node * topology.ranks_per_node + local);
}

ChannelProblem problem_of(const Topology& topology, const Router& router, std::uint32_t node,
                          std::span<const std::uint32_t> locals, std::optional<RankId> outside) {
    ChannelProblem problem{
        .members = static_cast<std::uint32_t>(locals.size()), .hop = {}, .enter = {}, .leave = {}, .port = {}};
    for (const std::uint32_t a : locals) {
        const RankId from = rank_at(topology, node, a);
        for (const std::uint32_t b : locals) {
            const Route route = router.route(from, rank_at(topology, node, b), 0);
            problem.hop.push_back(uses_of(topology, route.links()));
        }
        if (!outside) continue;
        const RankId opposite = rank_at(topology, topology.node_of(*outside), a);  // whose NIC has the same number
        problem.leave.push_back(leaving(topology, router, from, opposite));
        problem.port.push_back(problem.leave.back().back().link);
        problem.enter.push_back(entering(topology, router, opposite, from));
    }
    return problem;
}

}  // namespace weft
