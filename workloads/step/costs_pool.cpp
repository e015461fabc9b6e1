#include "workloads/step/costs_pool.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/network/fingerprint.hpp"

namespace weft {
namespace {

std::uint64_t fingerprint(const GroupMembers& groups) {
    Fingerprint print;
    print.add(std::uint64_t{groups.size});
    for (const RankId rank : groups.ranks) print.add(std::uint64_t{index(rank)});
    return print.value();
}

}  // namespace

CostsPool::CostsPool(const Topology& topology, Library library)
    : topology_(topology), library_(std::move(library)), planner_(topology) {}

CostsPool::Known::Known(CostsPool& pool, GroupMembers members)
    : groups(std::move(members)),
      costs(pool.topology_, pool.library_, shape_of(pool.topology_, groups[0]),
            [&pool, this](Order order) { return pool.lay(groups, order); }) {}

GroupCosts& CostsPool::find(GroupMembers groups) {
    WEFT_CHECK(!groups.ranks.empty(), "a family without groups");
    const std::uint64_t hash = fingerprint(groups);
    const auto [begin, end] = known_.equal_range(hash);
    const auto same = std::find_if(begin, end, [&](const auto& known) { return known.second->groups == groups; });
    if (same != end) return same->second->costs;
    return known_.emplace(hash, std::make_unique<Known>(*this, std::move(groups)))->second->costs;
}

GroupCosts CostsPool::part(GroupMembers groups, GroupCosts& whole) {
    const GroupShape shape = shape_of(topology_, groups[0]);
    return {topology_, library_, shape, [this, groups = std::move(groups)](Order order) { return lay(groups, order); },
            &whole};
}

std::size_t CostsPool::routed_links() const {
    std::size_t links = 0;
    for (const auto& [hash, known] : known_) links += known->costs.routed_links();
    return links;
}

// A group inside a node is laid once for all nodes that are alike.
std::vector<Communicator> CostsPool::lay(const GroupMembers& groups, Order order) {
    const bool moves = topology_.node_links > 0 && groups.size > 1 && shape_of(topology_, groups[0]).nodes == 1;
    std::vector<Communicator> communicators;
    std::vector<std::span<const RankId>> laid;  // members of each
    if (!moves) communicators.reserve(groups.groups());
    for (std::size_t group = 0; group < groups.groups(); ++group) {
        const std::span<const RankId> ranks = groups[group];
        const auto same =
            moves ? std::ranges::find_if(laid, [&](const auto& other) { return is_moved(other, ranks); }) : laid.end();
        if (same != laid.end()) {
            communicators[static_cast<std::size_t>(same - laid.begin())].copies.push_back(nodes_between(*same, ranks));
            continue;
        }
        communicators.push_back(planner_.lay({ranks.begin(), ranks.end()}, order));
        if (moves) laid.push_back(ranks);
    }
    return communicators;
}

// By how many nodes the second of two groups on one node each lies behind the first.
std::int32_t CostsPool::nodes_between(std::span<const RankId> from, std::span<const RankId> to) const {
    return static_cast<std::int32_t>(topology_.node_of(to.front())) -
           static_cast<std::int32_t>(topology_.node_of(from.front()));
}

// Whether the second is the first on another node.
bool CostsPool::is_moved(std::span<const RankId> from, std::span<const RankId> to) const {
    return std::ranges::equal(
        from, to, {}, [this](RankId rank) { return topology_.local_of(rank); },
        [this](RankId rank) { return topology_.local_of(rank); });
}

}  // namespace weft
