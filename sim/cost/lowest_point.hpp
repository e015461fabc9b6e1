// The lowest point of the upper envelope of straight lines.
#pragma once

#include <span>

namespace weft {

struct Line {
    double at_zero = 0.0, slope = 0.0;
    double at(double q) const { return at_zero + slope * q; }
};

// The smallest q in [0, 1] at which the highest of the lines is as low as it gets, but for lines that begin less than a
// millionth above that: lines that rounding alone makes fall would ask for all of the way. `lines` is not empty, and no
// line is negative in [0, 1].
double lowest_point(std::span<const Line> lines);

}  // namespace weft
