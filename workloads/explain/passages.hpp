// A critical path in words.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "workloads/explain/explanation.hpp"
#include "workloads/explain/path_causes.hpp"

namespace weft {

// Pieces that follow one another on one rank class and belong to the layers (computation, the calls of tensor, context
// and expert ranks between, and what stages hand over), to the optimizer, or to one other dimension are one passage.
// The `most` longest are told, the longest first.
std::vector<PathPassage> longest_passages(const Simulation& run, std::span<const PathPiece> path,
                                          const PathCauses& causes, std::size_t most);

}  // namespace weft
