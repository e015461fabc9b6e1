#include "workloads/groups/families.hpp"

#include <algorithm>
#include <limits>

#include "sim/base/check.hpp"

namespace weft {
namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Families::Families(const Plan& plan, CostsPool& pool, std::span<const Script> scripts)
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

Families::SlotKey Families::key_of(const Call& call, std::uint32_t stage) {
    if (!call.crosses_boundary()) return {call.group, 0, 0, 0};
    const bool sends = call.direction == Direction::send;
    return {call.group, sends ? stage : call.peer, sends ? call.peer : stage, call.port};
}

// Ranks of a stage are numbered in ascending order.
std::uint32_t Families::place_on_stage(RankId rank) const {
    const auto r = static_cast<std::uint32_t>(rank);
    return r / (stride_ * stages_) * stride_ + r % stride_;
}

// The rank that sits on another stage where `rank` sits on its own.
RankId Families::on_stage(RankId rank, std::uint32_t stage) const {
    const auto r = static_cast<std::uint32_t>(rank);
    return RankId{r - r / stride_ % stages_ * stride_ + stage * stride_};
}

std::uint32_t Families::group_of(RankId rank, std::uint32_t stage, const Call& call) const {
    const SlotKey key = key_of(call, stage);
    const Slot& slot = slots_[slot_ids_.at(key)];
    if (!call.crosses_boundary()) return slot.group_of[index(rank)];
    return slot.group_of[place_on_stage(rank)];  // sender and receiver have the same place
}

void Families::add_groups(const Call& call, std::uint32_t stage) {
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

std::uint32_t Families::add_group(Slot& slot, const Call& call, std::uint32_t stage, std::span<const RankId> members) {
    const std::uint32_t group = groups();
    const std::uint32_t family = family_for(slot, call, stage, shape_of(pool_.topology(), members));
    families_[family].groups.push_back(group);
    family_of_.push_back(family);
    members_.insert(members_.end(), members.begin(), members.end());
    first_member_.push_back(members_.size());
    return group;
}

// Mostly that of the group before.
std::uint32_t Families::family_for(Slot& slot, const Call& call, std::uint32_t stage, const GroupShape& shape) {
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

GroupMembers Families::members_of(std::span<const std::uint32_t> groups) const {
    WEFT_CHECK(!groups.empty(), "a family without groups");
    GroupMembers found{.size = static_cast<std::uint32_t>(members(groups.front()).size()), .ranks = {}};
    found.ranks.reserve(groups.size() * found.size);
    for (const std::uint32_t group : groups) {
        const std::span<const RankId> own = members(group);
        found.ranks.insert(found.ranks.end(), own.begin(), own.end());
    }
    return found;
}

GroupCosts Families::costs(std::span<const std::uint32_t> groups, GroupCosts& whole) {
    return pool_.part(members_of(groups), whole);
}

}  // namespace weft
