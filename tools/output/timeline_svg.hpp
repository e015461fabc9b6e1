// The timeline of a run as a picture: a self-contained SVG, light or dark as the reader's system is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/engine/timeline.hpp"
#include "sim/program/program.hpp"

namespace weft {

struct TimelineSvgOptions {
    std::string title{};                 // "GPT-NeoX-20B on 128 GCDs of Frontier"
    std::string subtitle{};              // "tensor 4 x pipeline 4 x data 8, 13.1 s per step"
    std::vector<RankClassId> classes{};  // to show; empty: all
    std::size_t most_rows = 24;
};

// One row per rank class, computation above a thin strip of communication; of more classes than most_rows, evenly
// chosen ones, which the picture says. Coarse where there is much to draw, so that it stays below some 200 kB.
std::string timeline_svg(const Program& program, const Timeline& timeline, const TimelineSvgOptions& options = {});

}  // namespace weft
