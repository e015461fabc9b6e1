#include "topologies/channels.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "topologies/channel_search.hpp"

namespace weft {
namespace {

// What the hops of channels through a node occupy, by the routes of a topology.

// Femtoseconds per mebibyte: integers whose rounding does not matter for any link of this century. Links of less than
// 15 MB/s are taken for as fast as that, so that the sums of a search (below 2^17 uses) fit. Libraries read the rates
// that ports have come up with, and lay channels past a slow one where that carries more.
LinkUse use_of(const Topology& topology, LinkId link) {
    constexpr double most = 70'368'744'177'664;  // 2^46
    return {link, std::llround(std::min(1e15 * 1048576.0 / topology.link(link).bandwidth.value, most))};
}

HopUses uses_of(const Topology& topology, std::span<const LinkId> links) {
    return list_of<LinkUse>(links, [&](LinkId link) { return use_of(topology, link); });
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
    const auto after = route.links().subspan(links_out(topology, route.links()));
    return uses_of(topology, {std::ranges::find_if(after, leaves_network), after.end()});
}

RankId rank_at(const Topology& topology, std::uint32_t node, std::uint32_t local) {
    return RankId(node * topology.ranks_per_node + local);
}

// That of a group with these accelerators of a node, ascending. `outside`: any rank of it on another node; none for a
// group inside one node.
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

using Path = std::vector<std::uint32_t>;  // through the members of a node

// The members on one node, as accelerators of that node, ascending.
struct NodeMembers {
    std::uint32_t node = 0;
    std::vector<std::uint32_t> local;
};

// In the order in which the members first name the nodes.
std::vector<NodeMembers> by_node(const Topology& topology, std::span<const RankId> members) {
    std::vector<NodeMembers> nodes;
    const bool one_by_one = std::ranges::is_sorted(members, {}, [&](RankId rank) { return topology.node_of(rank); });
    std::map<std::uint32_t, std::size_t> place;  // of nodes that are not named one by one
    std::size_t last = 0;                        // members of a node mostly follow one another
    for (const RankId rank : members) {
        const std::uint32_t node = topology.node_of(rank);
        if (nodes.empty() || nodes[last].node != node) {
            last = one_by_one ? nodes.size() : place.try_emplace(node, nodes.size()).first->second;
            if (last == nodes.size()) nodes.push_back({.node = node, .local = {}});
        }
        nodes[last].local.push_back(topology.local_of(rank));
    }
    for (NodeMembers& node : nodes) std::sort(node.local.begin(), node.local.end());
    return nodes;
}

bool is_crippled(const Topology& topology, const NodeMembers& node) {
    return std::ranges::binary_search(topology.crippled_nodes, node.node);
}

// A rank of another node of the group than its i-th, without faults if there is one: what it lacks is not this node's
// matter.
RankId outside(const Topology& topology, const std::vector<NodeMembers>& nodes, std::size_t i) {
    const auto is_whole = [&](const NodeMembers& node) { return &node != &nodes[i] && !is_crippled(topology, node); };
    const auto whole = std::ranges::find_if(nodes, is_whole);
    const NodeMembers& other = whole != nodes.end() ? *whole : nodes[i == 0 ? nodes.size() - 1 : 0];
    return rank_at(topology, other.node, other.local.front());
}

// The members, by whose own NICs, channels come into a node and leave it. Others may have to share these NICs.
ChannelEnds ends_of(const ChannelProblem& problem, const std::vector<Path>& channels) {
    const auto owner = [&](LinkId port) {
        std::uint32_t nearest = problem.members;
        for (std::uint32_t member = 0; member < problem.members; ++member) {
            if (problem.port[member] != port) continue;
            if (nearest == problem.members || problem.leave[member].size() < problem.leave[nearest].size())
                nearest = member;
        }
        return nearest;
    };
    ChannelEnds ends;
    for (const Path& path : channels)
        ends.emplace_back(owner(problem.port[path.front()]), owner(problem.port[path.back()]));
    return ends;
}

ChannelProblem problem_across(const Topology& topology, const std::vector<NodeMembers>& nodes, std::size_t i) {
    return problem_of(topology, *topology.router, nodes[i].node, nodes[i].local, outside(topology, nodes, i));
}

// Where a fault leaves a node fewer channels, all nodes lay theirs between the NICs that it has left: what leaves one
// by a NIC is to enter the next by the NIC of the same number. The number of channels; nothing where nodes differ in
// their members, or are equal.
std::optional<std::size_t> align(const Topology& topology, const std::vector<NodeMembers>& nodes,
                                 std::vector<const std::vector<Path>*>& paths, std::deque<std::vector<Path>>& aligned) {
    std::size_t worst = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].local != nodes.front().local) return std::nullopt;
        if (paths[i]->size() < paths[worst]->size()) worst = i;
    }
    const bool equal =
        std::ranges::all_of(paths, [&](const auto* each) { return each->size() == paths[worst]->size(); });
    if (equal || !is_crippled(topology, nodes[worst])) return std::nullopt;
    const ChannelEnds ends = ends_of(problem_across(topology, nodes, worst), *paths[worst]);
    const std::vector<Path>* whole = nullptr;  // of nodes without faults
    std::vector<const std::vector<Path>*> found(paths);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i == worst) continue;
        const bool crippled = is_crippled(topology, nodes[i]);
        if (!crippled && whole != nullptr) {
            found[i] = whole;
            continue;
        }
        std::optional<std::vector<Path>> channels = find_channels(problem_across(topology, nodes, i), ends);
        if (!channels) return std::nullopt;
        found[i] = &aligned.emplace_back(*std::move(channels));
        if (!crippled) whole = found[i];
    }
    paths = std::move(found);
    return ends.size();
}

}  // namespace

// Channels by the accelerators that take part and by whether the group leaves the node: all nodes are equal, so one
// search serves every group of the same shape. Nodes with slow or dead links are searched each for itself.
struct ChannelPlanner::Cache {
    struct Shape {
        std::optional<std::uint32_t> crippled_node;
        std::vector<std::uint32_t> local;
        auto operator<=>(const Shape&) const = default;
    };
    std::map<Shape, std::vector<Path>> inside, across;
    std::map<std::vector<std::uint32_t>, Ports> ports;  // where nodes are equal

    const std::vector<Path>& channels(const Topology& topology, const NodeMembers& node,
                                      std::optional<RankId> outside) {
        const bool crippled = is_crippled(topology, node);
        auto& known = outside ? across : inside;
        const auto [found, is_new] =
            known.try_emplace({crippled ? std::optional(node.node) : std::nullopt, node.local});
        if (!is_new) return found->second;
        const ChannelProblem problem = problem_of(topology, *topology.router, node.node, node.local, outside);
        found->second = find_channels(problem);
        if (!crippled || topology.around == nullptr) return found->second;
        // Past the links that are slow, by NICs of others perhaps.
        const ChannelProblem past = problem_of(topology, *topology.around, node.node, node.local, outside);
        std::vector<Path> channels = find_channels(past);
        if (carry_more(past, channels, problem, found->second)) found->second = std::move(channels);
        return found->second;
    }
};

ChannelPlanner::ChannelPlanner(const Topology& topology, std::vector<std::uint32_t> busy)
    : topology_(topology), busy_(std::move(busy)), cache_(std::make_unique<Cache>()) {
    if (busy_.empty()) busy_ = numbers_below<std::uint32_t>(topology.ranks_per_node);
}
ChannelPlanner::~ChannelPlanner() = default;

// Looks at the first node only: the groups of a job sit equally on all of their nodes.
Ports ChannelPlanner::ports(const std::vector<RankId>& members) {
    const std::uint32_t node = topology_.node_of(members.front());
    const auto here = list_of_those<std::uint32_t>(
        members, [&](RankId rank) { return topology_.node_of(rank) == node; },
        [&](RankId rank) { return topology_.local_of(rank); });
    if (topology_.node_links == 0) return ports_on(node, here);
    const auto [known, is_new] = cache_->ports.try_emplace(here);
    if (is_new) known->second = ports_on(node, here);
    return known->second;
}

Ports ChannelPlanner::ports_on(std::uint32_t node, std::span<const std::uint32_t> here) const {
    const auto uplink = [&](std::uint32_t local) { return topology_.router->uplink(rank_at(topology_, node, local)); };
    for (const std::uint32_t other : busy_) {
        if (std::ranges::find(here, other) != here.end()) continue;
        if (std::ranges::any_of(here, [&](std::uint32_t local) { return uplink(local) == uplink(other); })) {
            return Ports::shared;
        }
    }
    return Ports::own;
}

Communicator ChannelPlanner::lay(const std::vector<RankId>& members, Order order) {
    Communicator communicator;
    if (order == Order::given || members.size() < 2) {
        communicator.channels.push_back(members);
    } else {
        communicator = across_nodes(members, order);
    }
    const auto is_elsewhere = [&](RankId rank) {
        return topology_.node_of(rank) != topology_.node_of(members.front());
    };
    if (std::ranges::any_of(members, is_elsewhere)) communicator.ports = ports(members);
    return communicator;
}

// For rings, every second node is passed in the opposite direction: what left one node by a NIC then enters the next by
// the NIC of the same number, which on a network with rails is the short route (NCCL pairs channels for the same
// reason). There are as many channels as the node with the fewest has (NCCL's init.cc takes the least of all ranks).
Communicator ChannelPlanner::across_nodes(const std::vector<RankId>& members, Order order) {
    const std::vector<NodeMembers> nodes = by_node(topology_, members);
    std::vector<const std::vector<Path>*> paths;
    std::size_t channels = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const bool as_before = i > 0 && topology_.crippled_nodes.empty() && nodes[i].local == nodes[i - 1].local;
        if (as_before) {
            paths.push_back(paths.back());
            continue;
        }
        const auto away = nodes.size() > 1 ? std::optional(outside(topology_, nodes, i)) : std::nullopt;
        paths.push_back(&cache_->channels(topology_, nodes[i], away));
        channels = std::min(channels, paths.back()->size());
    }
    std::deque<std::vector<Path>> aligned;
    if (nodes.size() > 1 && !topology_.crippled_nodes.empty()) {
        channels = align(topology_, nodes, paths, aligned).value_or(channels);
    }
    Communicator communicator;
    for (std::size_t c = 0; c < channels; ++c) {
        std::vector<RankId>& channel = communicator.channels.emplace_back();
        channel.reserve(members.size());
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const Path& path = (*paths[i])[c];
            const bool backwards = order == Order::rings && i % 2 == 1;
            for (std::size_t k = 0; k < path.size(); ++k) {
                const std::uint32_t member = backwards ? path[path.size() - 1 - k] : path[k];
                channel.push_back(rank_at(topology_, nodes[i].node, nodes[i].local[member]));
            }
        }
    }
    return communicator;
}

GroupShape shape_of(const Topology& topology, std::span<const RankId> members) {
    if (members.size() == 2) {  // most groups are the two ends of a boundary
        return {.members = 2, .nodes = topology.node_of(members[0]) == topology.node_of(members[1]) ? 1U : 2U};
    }
    // Mostly every node has one, and the nodes are equally far apart.
    const auto apart = [](RankId a, RankId b) { return static_cast<std::uint32_t>(b) - static_cast<std::uint32_t>(a); };
    const std::uint32_t by = members.size() > 1 ? apart(members[0], members[1]) : 0;
    const auto is_farther = [&](RankId a, RankId b) { return apart(a, b) != by; };
    const bool is_spread = by > 0 && by % topology.ranks_per_node == 0 && members.front() < members.back() &&
                           std::ranges::adjacent_find(members, is_farther) == members.end();
    if (is_spread) {
        const auto size = static_cast<std::uint32_t>(members.size());
        return {.members = size, .nodes = size};
    }
    const auto counts = list_of<std::size_t>(by_node(topology, members),  // of members, by node
                                             [](const NodeMembers& node) { return node.local.size(); });
    GroupShape shape{.members = static_cast<std::uint32_t>(members.size()),
                     .nodes = static_cast<std::uint32_t>(std::max<std::size_t>(counts.size(), 1))};
    for (const std::size_t count : counts) shape.even = shape.even && count == counts.front();
    const bool equal_before_last = std::all_of(counts.begin(), counts.end() - (counts.empty() ? 0 : 1),
                                               [&](std::size_t count) { return count == counts.front(); });
    if (!shape.even && equal_before_last && counts.back() < counts.front() && std::ranges::is_sorted(members))
        shape.before_last = static_cast<std::uint32_t>(counts.front());
    return shape;
}

}  // namespace weft
