#include "workloads/step/families.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "sim/base/check.hpp"
#include "workloads/step/stage_rows.hpp"

namespace weft {
namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Families::Families(const Plan& plan, const Topology& topology, const Library& library, CostsPool* pool)
    : plan_(plan),
      topology_(topology),
      library_(library),
      pool_(pool),
      grid_(plan.job.layout.grid()),
      stride_(grid_.stride("pipeline")),
      stages_(grid_.size("pipeline")) {}

Families::Families(const Plan& plan, CostsPool& pool, std::span<const Script> scripts)
    : Families(plan, pool.topology(), pool.library(), &pool) {
    add_all(scripts);
    for (Family& family : families_) {
        family.count = static_cast<std::uint32_t>(family.groups.size());
        family.costs = &pool.find(members_of(family.groups));
    }
}

std::unique_ptr<Families> Families::sampled(const Plan& plan, SampledCosts& costs, std::span<const Script> scripts) {
    std::unique_ptr<Families> families(new Families(plan, costs.topology(), costs.library(), nullptr));
    families->add_all(scripts);
    return families->work_out(costs) ? std::move(families) : nullptr;
}

void Families::add_all(std::span<const Script> scripts) {
    for (std::uint32_t stage = 0; stage < scripts.size(); ++stage) {
        for (const Call& call : scripts[stage].calls()) {
            if (call.direction != Direction::receive) add_groups(call, stage);
        }
    }
}

bool Families::work_out(SampledCosts& costs) {
    const StageRows rows(plan_.job.layout, topology_.ranks_per_node);
    std::vector<SampledCosts::Row*> found;  // by family
    for (Family& family : families_) {
        const std::span<const RankId> first = members(family.groups.front());
        std::vector<RankId> ranks(first.begin(), first.end());
        std::optional<GroupRow> row = family.kind == GroupKind::boundary
                                          ? rows.row(std::move(ranks))
                                          : rows.row(kinds_.at(family.kind), std::move(ranks));
        if (!row) return false;
        family.count = row->groups();
        found.push_back(costs.add(std::move(*row)));
        if (found.back() == nullptr) return false;
    }
    for (std::size_t i = 0; i < families_.size(); ++i) {
        families_[i].costs = costs.add(*found[i], families_[i].calls);
        if (families_[i].costs == nullptr) return false;
    }
    costs.choose();
    return true;
}

Families::SlotKey Families::key_of(const Call& call, std::uint32_t stage) {
    if (call.group != GroupKind::boundary) return {call.group, 0, 0, 0};
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

std::vector<RankId> Families::listed_ranks(std::uint32_t stage) const {
    return pool_ != nullptr ? grid_.slice("pipeline", stage) : std::vector{on_stage(RankId{0}, stage)};
}

// Of the first rank of a stage, where only these are listed: the stage.
std::uint32_t Families::listed_place(RankId rank) const {
    const auto r = static_cast<std::uint32_t>(rank);
    if (pool_ != nullptr) return r;
    return r % stride_ == 0 && r / stride_ < stages_ ? r / stride_ : nowhere;
}

std::uint32_t Families::group_of(RankId rank, std::uint32_t stage, const Call& call) const {
    const SlotKey key = key_of(call, stage);
    const Slot& slot = slots_[slot_ids_.at(key)];
    if (call.group != GroupKind::boundary) return slot.group_of[listed_place(rank)];
    return slot.group_of[place_on_stage(rank)];  // sender and receiver have the same place
}

void Families::add_groups(const Call& call, std::uint32_t stage) {
    const auto [it, is_new] = slot_ids_.try_emplace(key_of(call, stage), static_cast<std::uint32_t>(slots_.size()));
    if (is_new) slots_.emplace_back();
    Slot& slot = slots_[it->second];
    std::vector<std::uint32_t>& group_of = slot.group_of;
    if (call.group == GroupKind::boundary) {
        if (group_of.empty()) {
            for (const RankId sender : listed_ranks(stage)) {
                const RankId pair[] = {sender, on_stage(sender, call.peer)};
                group_of.push_back(add_group(slot, call, stage, pair));
            }
        }
    } else {
        group_of.resize(pool_ != nullptr ? grid_.ranks() : stages_, nowhere);
        const RankGroups& kind = kinds_.try_emplace(call.group, call.group, plan_.job.layout).first->second;
        const bool is_listed = group_of[listed_place(on_stage(RankId{0}, stage))] != nowhere;  // by another call
        for (const RankId rank : is_listed ? std::vector<RankId>{} : listed_ranks(stage)) {
            if (group_of[listed_place(rank)] != nowhere) continue;
            const std::vector<RankId> members = kind.members(rank);
            const std::uint32_t group = add_group(slot, call, stage, members);
            for (const RankId member : members) {
                if (const std::uint32_t place = listed_place(member); place != nowhere) group_of[place] = group;
            }
        }
    }
    // Every family of the slot that is first met on this stage makes the call.
    for (const std::uint32_t family : slot.families) {
        if (families_[family].stage == stage) families_[family].calls.push_back(call);
    }
    if (pool_ != nullptr || call.group == GroupKind::boundary) return;
    // So does the one that the first rank is in, if it was met on a stage before.
    Family& own = families_[family_of_[group_of[listed_place(on_stage(RankId{0}, stage))]]];
    if (own.stage != stage) own.calls.push_back(call);
}

std::uint32_t Families::add_group(Slot& slot, const Call& call, std::uint32_t stage, std::span<const RankId> members) {
    const std::uint32_t group = groups();
    const std::uint32_t family = family_for(slot, call, stage, shape_of(topology_, members));
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
    return pool_->part(members_of(groups), whole);
}

}  // namespace weft
