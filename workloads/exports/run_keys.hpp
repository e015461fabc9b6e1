// What a job says of its run that no launcher has words for: which ranks of the nodes it takes, faults, the fabric, how
// the host works.
#pragma once

#include <string>

#include "workloads/exports/export.hpp"

namespace weft {

// As lines of own_keys(); nothing of what is as it is by default.
std::string run_keys(const Study& study);

// Nodes by number, which a scheduler says and no comment can.
void refuse_placement(const Study& study, Unsayable& unsayable);

}  // namespace weft
