// What changes of a job would save or cost, as bars from the step as it is: savings to the left, the largest first.
#pragma once

#include <string>
#include <vector>

#include "sim/base/quantity.hpp"

namespace weft {

struct TornadoBar {
    std::string name;
    Seconds step;  // with the change
};

// An SVG of a fixed width in its own coordinates, which scales with the page.
std::string tornado_svg(const std::vector<TornadoBar>& bars, Seconds own);

}  // namespace weft
