// The groups that communicate, laid on the topology, and the communications they hold. Ranks of one class do the same
// together, so all their groups of a kind are one *group set*, whose traffic is added up.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/collective/group_costs.hpp"
#include "sim/program/program_builder.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/channels.hpp"
#include "workloads/layout/groups_of_ranks.hpp"
#include "workloads/plan.hpp"

namespace weft {

enum class Folding : std::uint8_t {
    stages,  // the ranks of a pipeline stage are one class
    none,    // every rank is its own class: slow, for doubt and for tests
};

// One rank class.
struct Cell {
    std::uint32_t stage = 0;
    RankId representative{};
    std::uint32_t weight = 1;
};

std::vector<Cell> make_cells(const Plan& plan, Folding folding);

class Groups {
  public:
    Groups(const Plan& plan, const Topology& topology, Folding folding, ProgramBuilder& builder);

    // The group set in which `cell` issues `call`; created on first use. Sends and receives between two stages through
    // one port share a set.
    std::uint32_t find(const Cell& cell, const Call& call);
    std::uint32_t size(std::uint32_t set) const { return sets_[set].size; }
    LaneId lane(const Call& call) const;
    // `call` on a group set: its legs on the wire. Created on first call.
    CommunicationId communication(std::uint32_t set, const Call& call);
    // The n-th exchange of a group set, shared by its parties; each party must ask for the same communications in the
    // same order.
    ExchangeId occurrence(std::uint32_t set, std::uint32_t n, CommunicationId communication);

  private:
    struct Set {
        LaneId lane{};
        std::uint32_t size = 1, parties = 1;
        std::uint32_t groups = 1;  // laid together
        GroupCosts costs;
        std::map<std::tuple<Collective, double, double, Beside>, CommunicationId> communications{};
        std::vector<std::pair<ExchangeId, CommunicationId>> exchanges{};
    };
    // Kind, the rank the group is known by, and of a boundary the receiving stage and the port.
    using Key = std::tuple<GroupKind, RankId, std::uint32_t, std::uint32_t>;

    const RankGroups& groups_of(GroupKind kind);
    RankId on_stage(RankId rank, std::uint32_t stage) const;
    // The groups of a set, whose members are given group by group.
    GroupCosts lay(std::vector<std::vector<RankId>> groups);
    Set make_boundary(RankId sender, std::uint32_t to, const Call& call);
    Set make_set(const Cell& cell, GroupKind kind);
    Seconds delay_beside(Set& set, const Call& call, const Choice& choice) const;

    const Plan& plan_;
    const Topology& topology_;
    const Library library_;  // the machine's, with the caller's wait for every call where calls block
    Folding folding_;
    ProgramBuilder& builder_;
    RankGrid grid_;
    std::map<GroupKind, RankGroups> groups_;  // of the kinds that are used
    ChannelPlanner planner_;
    std::vector<Set> sets_;
    std::map<Key, std::uint32_t> index_;
};

}  // namespace weft
