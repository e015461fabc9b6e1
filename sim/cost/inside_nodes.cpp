#include "sim/cost/inside_nodes.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace weft {

InsideNodes::InsideNodes(const Topology& topology, const Communicator& communicator, const LinkLoads& loads,
                         std::vector<MessageLatency> messages)
    : topology_(topology), messages_(std::move(messages)) {
    std::unordered_map<std::uint32_t, std::uint32_t> places;  // of nodes; only looked up
    for (const std::vector<RankId>& channel : communicator.channels) {
        std::vector<Member>& members = channels_.emplace_back();
        members.reserve(channel.size());
        for (const RankId rank : channel) {
            const auto place = places.try_emplace(topology.node_of(rank), static_cast<std::uint32_t>(places.size()));
            members.push_back({.node = place.first->second, .local = topology.local_of(rank)});
        }
    }
    nodes_ = static_cast<std::uint32_t>(places.size());
    loads.for_each([&](LinkId link, const LinkLoads::Cell& cell) {
        const auto number = static_cast<std::uint32_t>(link);
        loads_.push_back({.node = places.at(number / topology.node_links),
                          .link = LinkId(number % topology.node_links),
                          .load = cell.by_way[static_cast<std::size_t>(Way::only)]});
    });
}

std::optional<std::vector<std::uint32_t>> InsideNodes::nodes_of(const Communicator& other) const {
    constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();
    if (other.channels.size() != channels_.size()) return {};
    std::vector<std::uint32_t> nodes(nodes_, unknown);
    const auto sits_alike = [&](const Member& member, RankId rank) {
        const std::uint32_t node = topology_.node_of(rank);
        if (nodes[member.node] == unknown) nodes[member.node] = node;
        return nodes[member.node] == node && topology_.local_of(rank) == member.local;
    };
    for (std::size_t c = 0; c < channels_.size(); ++c) {
        if (!std::ranges::equal(channels_[c], other.channels[c], sits_alike)) return {};
    }
    std::vector<std::uint32_t> sorted = nodes;  // two of one's nodes may not be one of the other's
    std::ranges::sort(sorted);
    return std::ranges::adjacent_find(sorted) == sorted.end() ? std::optional(std::move(nodes)) : std::nullopt;
}

void InsideNodes::add_to(LinkLoads& loads, std::span<const std::uint32_t> nodes) const {
    for (const Load& each : loads_) {
        const std::uint32_t first = nodes[each.node] * topology_.node_links;
        loads.add(LinkId(first + static_cast<std::uint32_t>(each.link)), Way::only, each.load);
    }
}

}  // namespace weft
