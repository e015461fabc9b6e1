// Lays the script of a stage on the network: from what a rank does to the operations of its class.
#pragma once

#include "sim/program/program_builder.hpp"
#include "workloads/faults.hpp"
#include "workloads/script/script.hpp"
#include "workloads/step/group_sets.hpp"

namespace weft {

// Adds `script` to the class begun last, which is `cell`. Calls in groups of one take no time and become nothing.
void place_script(const Script& script, const Cell& cell, const Jitter& jitter, GroupSets& groups,
                  ProgramBuilder& builder);

}  // namespace weft
