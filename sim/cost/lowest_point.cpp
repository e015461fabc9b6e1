#include "sim/cost/lowest_point.hpp"

#include <algorithm>

namespace weft {
namespace {

// Of equals the one that rises most; where rounding makes those equal, the one that begins highest: the order of lines
// decides nothing.
const Line& highest(std::span<const Line> lines, double q) {
    return *std::max_element(lines.begin(), lines.end(), [&](const Line& a, const Line& b) {
        if (a.at(q) != b.at(q)) return a.at(q) < b.at(q);
        return a.slope != b.slope ? a.slope < b.slope : a.at_zero < b.at_zero;
    });
}

// The height of the lowest point. Of two lines that reach the envelope left and right of it, the crossing is never
// above it; the line that is highest there replaces one of them. Crossings only rise, which rounding must not undo.
double lowest_height(std::span<const Line> lines) {
    Line left = highest(lines, 0.0), right = highest(lines, 1.0);
    if (left.slope >= 0.0) return left.at(0.0);
    if (right.slope <= 0.0) return right.at(1.0);
    for (double height = -1.0;;) {
        const double q = (left.at_zero - right.at_zero) / (right.slope - left.slope);
        const double crossing = std::max(left.at(q), right.at(q));
        if (crossing <= height) return height;
        height = crossing;
        const Line& top = highest(lines, q);
        if (top.slope == 0.0 || top.at(q) <= crossing) return top.at(q);
        (top.slope < 0.0 ? left : right) = top;
    }
}

}  // namespace

double lowest_point(std::span<const Line> lines) {
    constexpr double worth_it = 1e-6;
    const double height = lowest_height(lines);
    double q = 0.0;  // where the last falling line has come down to that height
    for (const Line& line : lines) {
        if (line.slope < 0.0 && line.at_zero > height * (1.0 + worth_it)) {
            q = std::max(q, (line.at_zero - height) / -line.slope);
        }
    }
    return std::min(q, 1.0);
}

}  // namespace weft
