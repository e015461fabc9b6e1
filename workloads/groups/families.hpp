// The groups that communicate in a step, in families: those of one kind, on the same stages, that sit in the same
// places of their nodes. The groups of a family make the same calls at much the same time. So the library takes one
// algorithm for all of them, and where the fabric routes adaptively, their messages settle on detours together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/cost/group_costs.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/channels.hpp"
#include "workloads/layout/layout.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/script/script.hpp"

namespace weft {

// What calls cost sets of groups, worked out once for each set. Programs of jobs that share a layout communicate in the
// same groups; where the channels of these run, and what they load, is the costly part of a program.

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
    CostsPool(const Topology& topology, Library library);
    CostsPool(const CostsPool&) = delete;
    CostsPool& operator=(const CostsPool&) = delete;

    const Topology& topology() const { return topology_; }
    const Library& library() const { return library_; }

    // Of all groups of a family together. Equal members in equal order share costs; those of groups that are known ones
    // moved by whole nodes are moved likewise, where the fabric looks the same from there. As long-lived as this.
    GroupCosts& find(GroupMembers groups);
    // Of some groups of a family, or of one, which lay the same channels and share the detours of `whole`.
    GroupCosts part(GroupMembers groups, GroupCosts& whole);

    std::size_t routed_links() const;  // GroupCosts::routed_links of all that was found

  private:
    // The costs refer to the groups beside them.
    struct Known {
        Known(CostsPool& pool, GroupMembers members);
        Known(GroupMembers members, Known& base, LinkMove move);
        GroupMembers groups;
        GroupCosts costs;
        bool is_moved = false;
    };
    std::optional<LinkMove> move(const GroupMembers& from, const GroupMembers& to) const;
    std::vector<Communicator> lay(const GroupMembers& groups, Order order);
    Communicator lay(std::span<const RankId> members, Order order);
    bool add_copy(Communicator& base, std::span<const RankId> from, std::span<const RankId> to, Order order,
                  std::optional<Communicator>& own);

    const Topology& topology_;
    const Library library_;
    ChannelPlanner planner_;
    // By a hash of where members sit behind the first; compared before it is believed.
    std::unordered_multimap<std::uint64_t, std::unique_ptr<Known>> known_;
};

struct Family {
    RankGroups kind;
    std::uint32_t stage = 0;            // of the first member; of a boundary, of the sender
    GroupShape shape{};                 // of a group on nodes
    std::vector<Call> calls;            // that the stage makes in these groups; of a boundary, the sends
    std::vector<std::uint32_t> groups;  // ascending
    GroupCosts* costs = nullptr;        // of all groups together
};

class Families {
  public:
    // `scripts`: what a rank of each stage does. All arguments must outlive this.
    Families(const Plan& plan, CostsPool& pool, std::span<const Script> scripts)
        : plan_(plan),
          pool_(pool),
          grid_(plan.job.layout.grid()),
          stride_(grid_.stride("pipeline")),
          stages_(grid_.size("pipeline")) {
        for (std::uint32_t stage = 0; stage < scripts.size(); ++stage) {
            for (const Call& call : scripts[stage].calls()) {
                if (call.direction != Direction::receive) add_groups(call, stage);
            }
        }
        for (Family& family : families_) family.costs = &pool.find(members_of(family.groups));
    }

    std::uint32_t groups() const { return static_cast<std::uint32_t>(family_of_.size()); }
    // In which `rank`, which is on `stage`, issues `call`. The two ends of a boundary are in one group for each port.
    std::uint32_t group_of(RankId rank, std::uint32_t stage, const Call& call) const {
        const SlotKey key = key_of(call, stage);
        const Slot& slot = slots_[slot_ids_.at(key)];
        if (!call.crosses_boundary()) return slot.group_of[index(rank)];
        return slot.group_of[place_on_stage(rank)];  // sender and receiver have the same place
    }
    std::span<const RankId> members(std::uint32_t group) const {
        return std::span(members_).subspan(first_member_[group], first_member_[group + 1] - first_member_[group]);
    }
    std::uint32_t stage_of(RankId rank) const { return static_cast<std::uint32_t>(rank) / stride_ % stages_; }
    std::uint32_t family_of(std::uint32_t group) const { return family_of_[group]; }

    std::vector<Family>& families() { return families_; }
    const Library& library() const { return pool_.library(); }
    // What a call costs some groups of a family, of which `whole` are the costs of all.
    GroupCosts costs(std::span<const std::uint32_t> groups, GroupCosts& whole) {
        return pool_.part(members_of(groups), whole);
    }

  private:
    static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
    // The groups of one kind; those of a boundary by its sender's and receiver's stage and its port.
    using SlotKey = std::tuple<RankGroups, std::uint32_t, std::uint32_t, std::uint32_t>;
    struct Slot {
        std::vector<std::uint32_t> group_of;  // by rank; of a boundary, by the sender's place on its stage
        std::vector<std::uint32_t> families;
    };

    // Ranks of a stage are numbered in ascending order.
    std::uint32_t place_on_stage(RankId rank) const {
        const auto r = static_cast<std::uint32_t>(rank);
        return r / (stride_ * stages_) * stride_ + r % stride_;
    }

    static SlotKey key_of(const Call& call, std::uint32_t stage) {
        if (!call.crosses_boundary()) return {call.group, 0, 0, 0};
        const bool sends = call.direction == Direction::send;
        return {call.group, sends ? stage : call.peer, sends ? call.peer : stage, call.port};
    }
    // The rank that sits on another stage where `rank` sits on its own.
    RankId on_stage(RankId rank, std::uint32_t stage) const {
        const auto r = static_cast<std::uint32_t>(rank);
        return RankId{r - r / stride_ % stages_ * stride_ + stage * stride_};
    }

    void add_groups(const Call& call, std::uint32_t stage) {
        const auto [it, is_new] = slot_ids_.try_emplace(key_of(call, stage), static_cast<std::uint32_t>(slots_.size()));
        if (is_new) slots_.emplace_back();
        Slot& slot = slots_[it->second];
        std::vector<std::uint32_t>& group_of = slot.group_of;
        if (call.crosses_boundary()) {
            if (group_of.empty()) {
                for (const RankId sender : grid_.slice("pipeline", stage)) {
                    const RankId pair[] = {sender, on_stage(sender, call.peer)};
                    group_of.push_back(add_group(slot, call, stage, pair));
                }
            }
        } else {
            group_of.resize(grid_.ranks(), nowhere);
            const PlacedGroups& placed = placed_.try_emplace(call.group, call.group, plan_.job.layout).first->second;
            const bool is_listed = group_of[index(on_stage(RankId{0}, stage))] != nowhere;  // by another call
            for (const RankId rank : is_listed ? std::vector<RankId>{} : grid_.slice("pipeline", stage)) {
                if (group_of[index(rank)] != nowhere) continue;
                const std::vector<RankId> members = placed.members(rank);
                const std::uint32_t group = add_group(slot, call, stage, members);
                for (const RankId member : members) group_of[index(member)] = group;
            }
        }
        // Every family of the slot that is first met on this stage makes the call.
        for (const std::uint32_t family : slot.families) {
            if (families_[family].stage == stage) families_[family].calls.push_back(call);
        }
    }

    std::uint32_t add_group(Slot& slot, const Call& call, std::uint32_t stage, std::span<const RankId> members) {
        const std::uint32_t group = groups();
        const std::uint32_t family = family_for(slot, call, stage, shape_of(pool_.topology(), members));
        families_[family].groups.push_back(group);
        family_of_.push_back(family);
        members_.insert(members_.end(), members.begin(), members.end());
        first_member_.push_back(members_.size());
        return group;
    }

    // Mostly that of the group before.
    std::uint32_t family_for(Slot& slot, const Call& call, std::uint32_t stage, const GroupShape& shape) {
        const auto is_alike = [&](std::uint32_t family) {
            return families_[family].stage == stage && families_[family].shape == shape;
        };
        const auto known = std::find_if(slot.families.rbegin(), slot.families.rend(), is_alike);
        if (known != slot.families.rend()) return *known;
        const auto family = static_cast<std::uint32_t>(families_.size());
        families_.push_back({.kind = call.group, .stage = stage, .shape = shape, .calls = {}, .groups = {}});
        slot.families.push_back(family);
        return family;
    }

    GroupMembers members_of(std::span<const std::uint32_t> groups) const {
        WEFT_CHECK(!groups.empty(), "a family without groups");
        GroupMembers found{.size = static_cast<std::uint32_t>(members(groups.front()).size()), .ranks = {}};
        found.ranks.reserve(groups.size() * found.size);
        for (const std::uint32_t group : groups) {
            const std::span<const RankId> own = members(group);
            found.ranks.insert(found.ranks.end(), own.begin(), own.end());
        }
        return found;
    }

    const Plan& plan_;
    CostsPool& pool_;
    RankGrid grid_;
    std::uint32_t stride_, stages_;  // of the pipeline axis
    std::map<RankGroups, PlacedGroups> placed_;
    std::map<SlotKey, std::uint32_t> slot_ids_;
    std::vector<Slot> slots_;
    std::vector<Family> families_;
    std::vector<std::uint32_t> family_of_;  // by group
    std::vector<RankId> members_;           // group by group
    std::vector<std::size_t> first_member_{0};
};

}  // namespace weft
