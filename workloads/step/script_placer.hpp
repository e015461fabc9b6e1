// Lays the script of a stage on the network: from what a rank does to the operations of its class.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program/program_builder.hpp"
#include "workloads/script/script.hpp"
#include "workloads/step/group_sets.hpp"

namespace weft {

// Where the work of a program comes from.

// Of the computations that take equally long the first: its stage, and its number in the work of the stage's script.
struct WorkOrigin {
    std::uint32_t stage = 0, number = 0;
};

// Adds `script` to the class begun last, which is `cell`. Calls in groups of one take no time and become nothing.
// `origins`: of the work in the program so far, by its number; lengthened by what is new.
void place_script(const Script& script, const Cell& cell, GroupSets& groups, ProgramBuilder& builder,
                  std::vector<WorkOrigin>& origins);

}  // namespace weft
