// The groups that rank classes communicate in, laid on the topology, and the communications they hold. Equal groups
// do the same together, so they are one *group set*, whose traffic is added up.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/cost/group_costs.hpp"
#include "sim/program/program_builder.hpp"
#include "workloads/folding/folding.hpp"
#include "workloads/groups/families.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

class GroupSets {
  public:
    GroupSets(const Plan& plan, Families& families, const RankClasses& classes, ProgramBuilder& builder);

    // The group set in which `cell` issues `call`; created on first use. Sends and receives through one port share one.
    std::uint32_t find(const Cell& cell, const Call& call);
    std::uint32_t size(std::uint32_t set) const { return sets_[set].size; }
    std::uint32_t parties(std::uint32_t set) const { return sets_[set].parties; }  // rank classes that meet in it
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
        GroupCosts* whole;         // of the family, which chooses algorithms
        GroupCosts* costs;         // of the set; `whole`, or `own`
        std::unique_ptr<GroupCosts> own{};
        std::map<Choice, std::vector<PatternId>> patterns{};  // of its phases, in the program
        std::map<std::tuple<Collective, double, double>, CommunicationId> communications{};
        std::vector<std::pair<ExchangeId, CommunicationId>> exchanges{};
    };
    std::uint32_t cell_of(RankId rank) const;
    bool is_in_one_cell(const Family& family) const;
    Set make_set(std::uint32_t group, const Call& call);

    const Plan& plan_;
    Families& families_;
    const RankClasses& classes_;
    ProgramBuilder& builder_;
    std::vector<std::vector<std::uint32_t>> groups_of_;  // by their number in classes_.of_group
    std::vector<Set> sets_;
    std::vector<std::uint32_t> set_of_;  // by the same number
};

}  // namespace weft
