// A chart as a picture: a self-contained SVG on a light ground, in colours that the colour-blind can tell apart.
#pragma once

#include <string>

#include "tools/output/chart.hpp"

namespace weft {

// Grows with the number of categories, so that no label covers another. Values that are not there are marked with a
// cross (bars) or leave a gap (lines), as zeros do on a logarithmic axis.
std::string chart_svg(const Chart& chart);

}  // namespace weft
