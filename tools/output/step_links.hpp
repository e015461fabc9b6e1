// What the links of a simulated step carried, as a file.
#pragma once

#include <filesystem>

#include "workloads/report/simulation.hpp"

namespace weft {

// A LinkFile of all links of the machine's part that was built, each by itself, however the step was folded. In slices,
// if the step has them: columns "slice,begin_s,end_s" come first, and only links that carry anything in the step are
// there, in every slice.
void write_step_links(const Simulation& run, const std::filesystem::path& path);

}  // namespace weft
