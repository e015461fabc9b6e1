// A layout for whoever gives none.
#pragma once

#include "tools/command.hpp"

namespace weft {

// The arguments of a command that takes a job, with --set for the layout that `weft plan` finds best where neither a
// job file nor --set says one; that is noted on stderr. As they are where something says it, or where nothing fits.
po::variables_map with_best_layout(const po::variables_map& arguments);

}  // namespace weft
