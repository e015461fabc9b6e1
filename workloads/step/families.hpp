// The groups that communicate in a step, in families: those of one kind, on the same stages, that sit alike on nodes.
// The groups of a family make the same calls at much the same time. So the library takes one algorithm for all of them,
// and where the fabric routes adaptively, their messages settle on detours together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "sim/collective/group_costs.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/channels.hpp"
#include "workloads/layout/groups_of_ranks.hpp"
#include "workloads/plan.hpp"
#include "workloads/script/script.hpp"

namespace weft {

struct Family {
    GroupKind kind{};
    std::uint32_t stage = 0;            // of the first member; of a boundary, of the sender
    std::uint32_t size = 1;             // members of a group
    std::vector<Call> calls;            // that the stage makes in these groups; of a boundary, the sends
    std::vector<std::uint32_t> groups;  // ascending
    std::unique_ptr<GroupCosts> costs;  // of all groups together
};

class Families {
  public:
    // `scripts`: what a rank of each stage does. All arguments must outlive this.
    Families(const Plan& plan, const Topology& topology, std::span<const Script> scripts);

    std::uint32_t groups() const { return static_cast<std::uint32_t>(family_of_.size()); }
    // In which `rank`, which is on `stage`, issues `call`. The two ends of a boundary are in one group for each port.
    std::uint32_t group_of(RankId rank, std::uint32_t stage, const Call& call) const;
    std::vector<RankId> members(std::uint32_t group) const;
    std::uint32_t family_of(std::uint32_t group) const { return family_of_[group]; }

    std::vector<Family>& families() { return families_; }
    const Library& library() const { return library_; }
    // What a call costs some groups of a family, which lay the same channels as all.
    GroupCosts costs(std::vector<std::uint32_t> groups, GroupCosts* whole);

  private:
    // The groups of one kind; those of a boundary by its sender's and receiver's stage and its port.
    using SlotKey = std::tuple<GroupKind, std::uint32_t, std::uint32_t, std::uint32_t>;
    struct Slot {
        std::vector<std::uint32_t> group_of;  // by rank; of a boundary, by the sender's place on its stage
    };
    // Slot, stage, members, nodes, evenness.
    using FamilyKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, bool>;

    static SlotKey key_of(const Call& call, std::uint32_t stage);
    std::uint32_t place_on_stage(RankId rank) const;
    RankId on_stage(RankId rank, std::uint32_t stage) const;
    void add_groups(const Call& call, std::uint32_t stage);
    std::vector<Communicator> lay(std::span<const std::uint32_t> groups, Order order);
    std::int32_t nodes_between(std::span<const RankId> from, std::span<const RankId> to) const;
    bool is_moved(std::span<const RankId> from, std::span<const RankId> to) const;
    std::uint32_t add_group(std::uint32_t slot, const Call& call, std::uint32_t stage, RankId first,
                            std::span<const RankId> members);

    const Plan& plan_;
    const Topology& topology_;
    const Library library_;  // the machine's, with the caller's wait for every call where calls block
    RankGrid grid_;
    std::uint32_t stride_;  // of the pipeline axis
    std::map<GroupKind, RankGroups> kinds_;
    std::map<SlotKey, std::uint32_t> slot_ids_;
    std::vector<Slot> slots_;
    std::map<FamilyKey, std::uint32_t> family_ids_;
    std::vector<Family> families_;
    std::vector<std::uint32_t> family_of_;  // by group
    std::vector<RankId> first_;             // member of each group
    std::vector<std::uint32_t> receiver_;   // stage of a boundary group's receiver
    ChannelPlanner planner_;
};

}  // namespace weft
