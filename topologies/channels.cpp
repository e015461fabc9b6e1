#include <algorithm>
#include <cmath>
#include <map>

#include "topologies/channel_search.hpp"
#include "topologies/machine.hpp"

namespace weft {

namespace {

using Order = std::vector<std::uint32_t>;

// The members on one node, as accelerators of that node, ascending.
struct NodeMembers {
    std::uint32_t node = 0;
    std::vector<std::uint32_t> local;
};

// In the order in which the members first name the nodes.
std::vector<NodeMembers> by_node(const Topology& topology, const std::vector<RankId>& members) {
    std::vector<NodeMembers> nodes;
    std::map<std::uint32_t, std::size_t> place;
    for (const RankId rank : members) {
        const std::uint32_t node = topology.node_of(rank);
        const auto [found, is_new] = place.try_emplace(node, nodes.size());
        if (is_new) nodes.push_back({.node = node, .local = {}});
        nodes[found->second].local.push_back(topology.local_of(rank));
    }
    for (NodeMembers& node : nodes) std::sort(node.local.begin(), node.local.end());
    return nodes;
}

RankId rank_at(const Topology& topology, std::uint32_t node, std::uint32_t local) {
    return RankId(node * topology.ranks_per_node + local);
}

// Femtoseconds per mebibyte: integers whose rounding does not matter for any link of this century.
LinkUse use_of(const Topology& topology, LinkId link) {
    return {link, std::llround(1e15 * 1048576.0 / topology.link(link).bandwidth.value)};
}

HopUses uses_of(const Topology& topology, std::span<const LinkId> links) {
    HopUses uses;
    for (const LinkId link : links) uses.push_back(use_of(topology, link));
    return uses;
}

// The part of a route up to the link that leaves the node, and from the link that enters the other one.
HopUses leaving(const Topology& topology, RankId from, RankId to) {
    const Route route = topology.route(from, to);
    const auto links = route.links();
    const auto up = std::find(links.begin(), links.end(), topology.router->uplink(from));
    return uses_of(topology, links.first(static_cast<std::size_t>(up - links.begin()) + 1));
}
HopUses entering(const Topology& topology, RankId from, RankId to) {
    const Route route = topology.route(from, to);
    const auto links = route.links();
    const auto down = std::find(links.begin(), links.end(), topology.router->downlink(to));
    return uses_of(topology, links.subspan(static_cast<std::size_t>(down - links.begin())));
}

// `outside`: any rank of another node of the group, or null for a group inside one node.
ChannelProblem problem_of(const Topology& topology, const NodeMembers& node, const RankId* outside) {
    ChannelProblem problem{
        .members = static_cast<std::uint32_t>(node.local.size()), .hop = {}, .enter = {}, .leave = {}, .port = {}};
    for (const std::uint32_t a : node.local) {
        const RankId from = rank_at(topology, node.node, a);
        for (const std::uint32_t b : node.local) {
            const Route route = topology.route(from, rank_at(topology, node.node, b));
            problem.hop.push_back(uses_of(topology, route.links()));
        }
        if (outside == nullptr) continue;
        problem.port.push_back(topology.router->uplink(from));
        problem.leave.push_back(leaving(topology, from, *outside));
        problem.enter.push_back(entering(topology, *outside, from));
    }
    return problem;
}

}  // namespace

// Channels by the accelerators that take part and by whether the group leaves the node: all nodes are alike, so one
// search serves every group of the same shape.
struct ChannelPlanner::Cache {
    std::map<std::vector<std::uint32_t>, std::vector<Order>> inside, across;

    const std::vector<Order>& channels(const Topology& topology, const NodeMembers& node, const RankId* outside) {
        auto& known = outside == nullptr ? inside : across;
        const auto [found, is_new] = known.try_emplace(node.local);
        if (is_new) found->second = find_channels(problem_of(topology, node, outside));
        return found->second;
    }
};

ChannelPlanner::ChannelPlanner(const Topology& topology) : topology_(topology), cache_(std::make_unique<Cache>()) {}
ChannelPlanner::~ChannelPlanner() = default;

Communicator ChannelPlanner::single(const std::vector<RankId>& members) { return {.channels = {members}}; }

// Every second node is passed in the opposite direction: what left one node by a NIC then enters the next by the NIC
// of the same number, which on a network with rails is the short way (NCCL pairs channels for the same reason).
Communicator ChannelPlanner::ring(const std::vector<RankId>& members) {
    if (members.size() < 2) return single(members);
    const std::vector<NodeMembers> nodes = by_node(topology_, members);
    std::vector<const std::vector<Order>*> orders;
    std::size_t channels = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const NodeMembers& other = nodes[i == 0 ? nodes.size() - 1 : 0];
        const RankId outside = rank_at(topology_, other.node, other.local.front());
        orders.push_back(&cache_->channels(topology_, nodes[i], nodes.size() > 1 ? &outside : nullptr));
        channels = std::max(channels, orders.back()->size());
    }
    Communicator communicator;
    for (std::size_t c = 0; c < channels; ++c) {
        std::vector<RankId>& ring = communicator.channels.emplace_back();
        ring.reserve(members.size());
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const Order& order = (*orders[i])[c % orders[i]->size()];  // a node with fewer channels takes them in turn
            for (std::size_t k = 0; k < order.size(); ++k) {
                const std::uint32_t member = i % 2 == 0 ? order[k] : order[order.size() - 1 - k];
                ring.push_back(rank_at(topology_, nodes[i].node, nodes[i].local[member]));
            }
        }
    }
    return communicator;
}

}  // namespace weft
