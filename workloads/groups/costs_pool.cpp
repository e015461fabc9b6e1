#include "workloads/groups/families.hpp"

#include <utility>

#include "sim/base/hash.hpp"
#include "sim/cost/communicator.hpp"

namespace weft {
namespace {

// Of where they sit, seen from the first member.
std::uint64_t fingerprint(const GroupMembers& groups) {
    Fingerprint print;
    print.add(std::uint64_t{groups.size}).add(std::uint64_t{groups.ranks.size()});
    for (const RankId rank : groups.ranks) {
        print.add(static_cast<std::uint64_t>(std::uint32_t(apart(groups.ranks.front(), rank))));
    }
    return print.value();
}

}  // namespace

CostsPool::CostsPool(const Topology& topology, Library library)
    : topology_(topology), library_(std::move(library)), planner_(topology) {}

CostsPool::Known::Known(CostsPool& pool, GroupMembers members)
    : groups(std::move(members)),
      costs(pool.topology_, pool.library_, shape_of(pool.topology_, groups[0]),
            [&pool, this](Order order) { return pool.lay(groups, order); }) {}

CostsPool::Known::Known(GroupMembers members, Known& base, LinkMove move)
    : groups(std::move(members)), costs(base.costs, std::move(move)), is_moved(true) {}

GroupCosts& CostsPool::find(GroupMembers groups) {
    WEFT_CHECK(!groups.ranks.empty(), "a family without groups");
    const std::uint64_t hash = fingerprint(groups);
    const auto [begin, end] = known_.equal_range(hash);
    const auto same = std::find_if(begin, end, [&](const auto& known) { return known.second->groups == groups; });
    if (same != end) return same->second->costs;
    for (auto base = begin; base != end; ++base) {
        if (base->second->is_moved) continue;
        if (std::optional<LinkMove> found = move(base->second->groups, groups)) {
            auto known = std::make_unique<Known>(std::move(groups), *base->second, std::move(*found));
            return known_.emplace(hash, std::move(known))->second->costs;
        }
    }
    return known_.emplace(hash, std::make_unique<Known>(*this, std::move(groups)))->second->costs;
}

// Channels of groups that are moved by whole nodes are moved likewise.
std::optional<LinkMove> CostsPool::move(const GroupMembers& from, const GroupMembers& to) const {
    if (from.size != to.size || from.size == 1 || from.ranks.size() != to.ranks.size()) return {};
    const std::optional<std::int32_t> by = shift_between(from.ranks, to.ranks);
    if (!by || *by % static_cast<std::int32_t>(topology_.ranks_per_node) != 0) return {};
    std::optional<LinkMove> all = topology_.move(from[0], *by);
    for (std::size_t group = 1; all && group < from.groups(); ++group) {
        const std::optional<LinkMove> one = topology_.move(from[group], *by);
        if (!one || !all->join(*one)) return {};
    }
    return all;
}

GroupCosts CostsPool::part(GroupMembers groups, GroupCosts& whole) {
    const GroupShape shape = shape_of(topology_, groups[0]);
    return {topology_, library_, shape, [this, groups = std::move(groups)](Order order) { return lay(groups, order); },
            &whole};
}

std::size_t CostsPool::routed_links() const {
    return sum_of<std::size_t>(known_, [](const auto& known) { return known.second->costs.routed_links(); });
}

// A group that another one becomes by moving is a copy of that one. Of those that may, only the last are asked, as many
// as can sit side by side on a node.
std::vector<Communicator> CostsPool::lay(const GroupMembers& groups, Order order) {
    const std::size_t asked = groups.size > 1 && topology_.node_links > 0 ? topology_.ranks_per_node : 0;
    std::vector<Communicator> communicators;
    std::vector<std::size_t> group_of;                                       // by communicator
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_residue;  // communicators; only looked up
    for (std::size_t group = 0; group < groups.groups(); ++group) {
        std::vector<std::size_t>& bases = by_residue[asked > 0 ? topology_.router->residue(groups[group]) : 0];
        std::optional<Communicator> own;
        const auto is_copy = [&](std::size_t base) {
            return add_copy(communicators[base], groups[group_of[base]], groups[group], order, own);
        };
        const auto last = std::span(bases).last(std::min(bases.size(), asked));
        if (std::any_of(last.rbegin(), last.rend(), is_copy)) continue;
        bases.push_back(communicators.size());
        communicators.push_back(own ? std::move(*own) : lay(groups[group], order));
        group_of.push_back(group);
    }
    return communicators;
}

Communicator CostsPool::lay(std::span<const RankId> members, Order order) {
    return planner_.lay({members.begin(), members.end()}, order);
}

// To `base`, of the group `from`, if `to` is one. Channels of groups that are not moved by whole nodes may differ,
// which `own`, of `to`, then tells.
bool CostsPool::add_copy(Communicator& base, std::span<const RankId> from, std::span<const RankId> to, Order order,
                         std::optional<Communicator>& own) {
    const std::optional<std::int32_t> by = shift_between(from, to);
    if (!by) return false;
    std::optional<LinkMove> move = topology_.move(from, *by);
    if (!move) return false;
    if (*by % static_cast<std::int32_t>(topology_.ranks_per_node) != 0) {
        if (!own) own = lay(to, order);
        if (!are_moved(base, *own, *by)) return false;
    }
    base.copies.push_back(std::move(*move));
    return true;
}

}  // namespace weft
