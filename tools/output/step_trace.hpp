// A simulated step as files to look at: a trace for viewers, a picture for documents.
#pragma once

#include <filesystem>
#include <vector>

#include "workloads/report/simulation.hpp"

namespace weft {

std::vector<RankClassId> first_classes(const Step& step);  // of each stage, by stage

// Chrome trace (.json or .json.gz) with the memory of each stage over time. Warns on stderr if slices were left out.
void write_step_trace(const Simulation& simulation, const std::filesystem::path& path);
void write_step_picture(const Simulation& simulation, const std::filesystem::path& path);  // SVG

}  // namespace weft
