// The groups of one kind on one stage as a row: one group, and by how much it is moved to become each of the others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/collective/group_row.hpp"
#include "workloads/layout/groups_of_ranks.hpp"
#include "workloads/layout/layout.hpp"

namespace weft {

// Rank numbers as digits, of which the lower ones count inside nodes and the higher ones count nodes.
class StageRows {
  public:
    StageRows(const Layout& layout, std::uint32_t ranks_per_node) : grid_(layout.grid()), on_node_(ranks_per_node) {}

    // The groups of `kind` on the stage of the first group, whose `members` these are. Nothing where nodes cut a group
    // or the layout unevenly, so that groups sit differently on nodes.
    std::optional<GroupRow> row(const RankGroups& kind, std::vector<RankId> members) const;
    // The same of boundaries: pairs of ranks, as many as a stage has.
    std::optional<GroupRow> row(std::vector<RankId> pair) const { return row(std::vector<Step>{}, std::move(pair)); }

  private:
    using Step = RankGroups::Step;
    std::optional<GroupRow> row(std::vector<Step> steps, std::vector<RankId> members) const;
    std::vector<Step> other_steps(const std::vector<Step>& steps) const;
    bool is_cut_evenly(const Step& step) const;

    RankGrid grid_;
    std::uint32_t on_node_;
};

}  // namespace weft
