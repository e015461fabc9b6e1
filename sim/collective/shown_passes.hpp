// What the groups of a survey pass by themselves, wherever their row lies: that of some shows it of all.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/circle.hpp"
#include "sim/collective/link_passes.hpp"
#include "sim/collective/row_survey.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

struct ShownPasses {
    // By number of what nodes are to messages (RowSurvey::contents()): on links of one such node, by link and size. Of
    // `of_groups`, the group is the place of its move in GroupRow::within.
    struct OnNode {
        std::uint32_t node = 0;
        std::vector<LinkPasses> passes{};  // groups counted together
        std::vector<LinkPasses> of_groups{};
    };
    std::vector<OnNode> on_nodes{};
    // What one group passes of one circle, by link and size, and then another, under numbers of their own for groups.
    // Where circles are passed as others are, these show it.
    std::vector<LinkPasses> on_circles{};
};

ShownPasses shown_passes(const Topology& topology, const Circles& circles, const RowSurvey& survey);

}  // namespace weft
