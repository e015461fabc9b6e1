// Lays the script of a stage on the network: from what a rank does to the operations of its class.
#pragma once

#include <vector>

#include "sim/program/program_builder.hpp"
#include "workloads/script/script.hpp"
#include "workloads/step/group_sets.hpp"
#include "workloads/step/work_origin.hpp"

namespace weft {

// Adds `script` to the class begun last, which is `cell`. Calls in groups of one take no time and become nothing.
// `origins`: of the work in the program so far, by its number; lengthened by what is new.
void place_script(const Script& script, const Cell& cell, GroupSets& groups, ProgramBuilder& builder,
                  std::vector<WorkOrigin>& origins);

}  // namespace weft
