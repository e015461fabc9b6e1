// How often the messages of a survey pass the links of a sample.
#pragma once

#include <vector>

#include "sim/collective/fabric_sample.hpp"
#include "sim/collective/link_passes.hpp"
#include "sim/collective/row_survey.hpp"
#include "sim/collective/shown_passes.hpp"
#include "sim/collective/tree_move.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// A survey and how its row is moved, as a sample has counted them.
struct CountedRow {
    const Topology& topology;
    const FabricSample& sample;
    const RowSurvey& survey;
    const ShownPasses& shown;  // of the survey
    const TreeMove& move;
};

// By link and size; groups are counted together.
std::vector<LinkPasses> passes_of(const CountedRow& row);

// The steps to it, in any order: of one part, on links of nodes, and on those of circles.
void add_node_passes(const CountedRow& row, const RowSurvey::Part& part, std::vector<LinkPasses>& passes);
void add_circle_passes(const CountedRow& row, const RowSurvey::Part& part, std::vector<LinkPasses>& passes);
// Of all parts, on links of the mesh.
void add_mesh_passes(const CountedRow& row, std::vector<LinkPasses>& passes);

}  // namespace weft
