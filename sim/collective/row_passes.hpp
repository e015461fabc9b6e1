// How often the messages of a survey pass the links of a sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/collective/fabric_sample.hpp"
#include "sim/collective/row_survey.hpp"
#include "sim/collective/tree_move.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// How often messages of one size in one group pass a link, on their routes and on detours.
struct LinkPasses {
    static constexpr std::uint32_t several = std::numeric_limits<std::uint32_t>::max();  // groups, counted together
    LinkId link{};
    std::uint32_t group = 0, size = 0, routes = 0, detours = 0;
};

// Passes of one link follow one another, and among these those of one group.
struct RowPasses {
    std::vector<LinkPasses> sampled{};  // by link; groups that are shown by one are counted together
    std::vector<LinkPasses> shown{};    // of the groups that show others, on whatever links they pass
};

// A survey and how its row is moved, as a sample has counted them.
struct CountedRow {
    const Topology& topology;
    const FabricSample& sample;
    const RowSurvey& survey;
    const TreeMove& move;
};

RowPasses passes_of(const CountedRow& row);

// The steps to it. Of one part, whose groups are numbered from `first_group` on: on links of nodes, and of circles; not
// sorted, but for those of groups that show others.
void add_node_passes(const CountedRow& row, const RowSurvey::Part& part, std::uint32_t first_group, RowPasses& passes);
void add_circle_passes(const CountedRow& row, const RowSurvey::Part& part, std::uint32_t first_group,
                       RowPasses& passes);
// Sorts those from `first` on, and joins those of one link, group and size.
void merge(std::vector<LinkPasses>& passes, std::size_t first = 0);

}  // namespace weft
