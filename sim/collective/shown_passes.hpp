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
    // Passes of one link and group follow one another. Where nodes or circles are passed as others are, these show it.
    std::vector<LinkPasses> of_groups{};
    // By number of what nodes are to messages (RowSurvey::contents()): on links of one such node, groups counted
    // together.
    struct OnNode {
        std::uint32_t node = 0;
        std::vector<LinkPasses> passes{};
    };
    std::vector<OnNode> on_nodes{};
};

ShownPasses shown_passes(const Topology& topology, const Circles& circles, const RowSurvey& survey);

}  // namespace weft
