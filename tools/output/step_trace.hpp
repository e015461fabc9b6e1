// A simulated step as files to look at: a trace for viewers, a picture for documents.
#pragma once

#include <filesystem>

#include "workloads/report/simulation.hpp"

namespace weft {

// Chrome trace (.json or .json.gz) with the memory of each stage over time. Warns on stderr if slices were left out.
void write_step_trace(const Simulation& simulation, const std::filesystem::path& path);
void write_step_picture(const Simulation& simulation, const std::filesystem::path& path);  // SVG

}  // namespace weft
