// What calls cost sets of groups, worked out once for each set. Programs of jobs that share a layout communicate in the
// same groups; where the channels of these run, and what they load, is the costly part of a program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/hash.hpp"
#include "sim/cost/communicator.hpp"
#include "sim/cost/group_costs.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/channels.hpp"

namespace weft {

// The members of groups that sit in the same places of their nodes, group by group.
struct GroupMembers {
    std::uint32_t size = 1;  // of each group
    std::vector<RankId> ranks{};

    std::size_t groups() const { return ranks.size() / size; }
    std::span<const RankId> operator[](std::size_t group) const { return std::span(ranks).subspan(group * size, size); }
    bool operator==(const GroupMembers&) const = default;
};

// Not for several threads. The topology must outlive this.
class CostsPool {
  public:
    CostsPool(const Topology& topology, Library library)
        : topology_(topology), library_(std::move(library)), planner_(topology) {}
    CostsPool(const CostsPool&) = delete;
    CostsPool& operator=(const CostsPool&) = delete;

    const Topology& topology() const { return topology_; }
    const Library& library() const { return library_; }

    // Of all groups of a family together. Equal members in equal order share costs; those of groups that are known ones
    // moved by whole nodes are moved likewise, where the fabric looks the same from there. As long-lived as this.
    GroupCosts& find(GroupMembers groups) {
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

    // Of some groups of a family, or of one, which lay the same channels and share the detours of `whole`.
    GroupCosts part(GroupMembers groups, GroupCosts& whole) {
        const GroupShape shape = shape_of(topology_, groups[0]);
        return {topology_, library_, shape,
                [this, groups = std::move(groups)](Order order) { return lay(groups, order); }, &whole};
    }

    // The sum of GroupCosts::routed_links of all that was found.
    std::size_t routed_links() const {
        std::size_t links = 0;
        for (const auto& [hash, known] : known_) links += known->costs.routed_links();
        return links;
    }

  private:
    // The costs refer to the groups beside them.
    struct Known {
        Known(CostsPool& pool, GroupMembers members)
            : groups(std::move(members)),
              costs(pool.topology_, pool.library_, shape_of(pool.topology_, groups[0]),
                    [&pool, this](Order order) { return pool.lay(groups, order); }) {}
        Known(GroupMembers members, Known& base, LinkMove move)
            : groups(std::move(members)), costs(base.costs, std::move(move)), is_moved(true) {}
        GroupMembers groups;
        GroupCosts costs;
        bool is_moved = false;
    };

    // Of where they sit, seen from the first member.
    static std::uint64_t fingerprint(const GroupMembers& groups) {
        Fingerprint print;
        print.add(std::uint64_t{groups.size}).add(std::uint64_t{groups.ranks.size()});
        for (const RankId rank : groups.ranks) {
            print.add(static_cast<std::uint64_t>(std::uint32_t(apart(groups.ranks.front(), rank))));
        }
        return print.value();
    }

    // Channels of groups that are moved by whole nodes are moved likewise.
    std::optional<LinkMove> move(const GroupMembers& from, const GroupMembers& to) const {
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

    // A group that another one becomes by moving is a copy of that one. Of those that may, only the last are asked, as
    // many as can sit side by side on a node.
    std::vector<Communicator> lay(const GroupMembers& groups, Order order) {
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
            communicators.push_back(own ? std::move(*own)
                                        : planner_.lay({groups[group].begin(), groups[group].end()}, order));
            group_of.push_back(group);
        }
        return communicators;
    }

    // To `base`, of the group `from`, if `to` is one. Channels of groups that are not moved by whole nodes may differ,
    // which `own`, of `to`, then tells.
    bool add_copy(Communicator& base, std::span<const RankId> from, std::span<const RankId> to, Order order,
                  std::optional<Communicator>& own) {
        const std::optional<std::int32_t> by = shift_between(from, to);
        if (!by) return false;
        std::optional<LinkMove> move = topology_.move(from, *by);
        if (!move) return false;
        if (*by % static_cast<std::int32_t>(topology_.ranks_per_node) != 0) {
            if (!own) own = planner_.lay({to.begin(), to.end()}, order);
            const auto is_moved = [&](const auto& a, const auto& b) { return shift_between(a, b) == by; };
            if (base.ports != own->ports || !std::ranges::equal(base.channels, own->channels, is_moved)) return false;
        }
        base.copies.push_back(std::move(*move));
        return true;
    }

    const Topology& topology_;
    const Library library_;
    ChannelPlanner planner_;
    // By a hash of where members sit behind the first; compared before it is believed.
    std::unordered_multimap<std::uint64_t, std::unique_ptr<Known>> known_;
};

}  // namespace weft
