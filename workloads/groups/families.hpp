// The groups that communicate in a step, in families: those of one kind, on the same stages, that sit in the same
// places of their nodes. The groups of a family make the same calls at much the same time. So the library takes one
// algorithm for all of them, and where the fabric routes adaptively, their messages settle on detours together.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/cost/group_costs.hpp"
#include "workloads/groups/costs_pool.hpp"
#include "workloads/layout/placed_groups.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/script/script.hpp"

namespace weft {

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
    Families(const Plan& plan, CostsPool& pool, std::span<const Script> scripts);
    std::uint32_t groups() const { return static_cast<std::uint32_t>(family_of_.size()); }
    // In which `rank`, which is on `stage`, issues `call`. The two ends of a boundary are in one group for each port.
    std::uint32_t group_of(RankId rank, std::uint32_t stage, const Call& call) const;
    std::span<const RankId> members(std::uint32_t group) const {
        return std::span(members_).subspan(first_member_[group], first_member_[group + 1] - first_member_[group]);
    }
    std::uint32_t stage_of(RankId rank) const { return static_cast<std::uint32_t>(rank) / stride_ % stages_; }
    std::uint32_t family_of(std::uint32_t group) const { return family_of_[group]; }

    std::vector<Family>& families() { return families_; }
    const Library& library() const { return pool_.library(); }
    // What a call costs some groups of a family, of which `whole` are the costs of all.
    GroupCosts costs(std::span<const std::uint32_t> groups, GroupCosts& whole);

  private:
    // The groups of one kind; those of a boundary by its sender's and receiver's stage and its port.
    using SlotKey = std::tuple<RankGroups, std::uint32_t, std::uint32_t, std::uint32_t>;
    struct Slot {
        std::vector<std::uint32_t> group_of;  // by rank; of a boundary, by the sender's place on its stage
        std::vector<std::uint32_t> families;
    };

    std::uint32_t place_on_stage(RankId rank) const;

    static SlotKey key_of(const Call& call, std::uint32_t stage);
    RankId on_stage(RankId rank, std::uint32_t stage) const;
    void add_groups(const Call& call, std::uint32_t stage);
    std::uint32_t add_group(Slot& slot, const Call& call, std::uint32_t stage, std::span<const RankId> members);
    std::uint32_t family_for(Slot& slot, const Call& call, std::uint32_t stage, const GroupShape& shape);
    GroupMembers members_of(std::span<const std::uint32_t> groups) const;

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
