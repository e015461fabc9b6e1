// What the groups of a survey that show others pass, wherever their row lies.
#pragma once

#include <vector>

#include "sim/collective/circle.hpp"
#include "sim/collective/link_passes.hpp"
#include "sim/collective/row_survey.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

struct ShownPasses {
    // On all links; passes of one link and group follow one another. Where a circle is passed as another, it is left
    // out.
    std::vector<LinkPasses> of_groups{};
    // By part, by node of the part's first group: on links of that node, those moved inside their nodes counted
    // together. Of parts with one group: none.
    std::vector<std::vector<std::vector<LinkPasses>>> on_nodes{};
};

ShownPasses shown_passes(const Topology& topology, const Circles& circles, const RowSurvey& survey);

}  // namespace weft
