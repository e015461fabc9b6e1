// Where the parts of a chart's picture stand, in pixels; used by chart_svg alone.
#pragma once

#include <string_view>
#include <vector>

#include "tools/output/chart.hpp"
#include "tools/output/chart_axis.hpp"

namespace weft {

struct LegendEntry {
    double x, y;  // of its mark's left end, and of its text's base line
};

struct ChartSlot {
    double centre, width;  // of a category
};

struct ChartFrame {
    static constexpr double font = 12, margin = 24;

    double page_width, page_height;
    double left, top, width, height;  // of the plot
    std::vector<LegendEntry> legend;  // per series
    std::vector<ChartSlot> slots;     // per category
    double label_angle = 0;           // of category labels, degrees; 0: upright
    double label_height = 0;          // that they take below the plot
    double x_title_y = 0;             // base line
    bool has_groups = false;

    double bottom() const { return top + height; }
    double x(double place) const { return left + width * place; }
    double y(double place) const { return bottom() - height * place; }
};

ChartFrame chart_frame(const Chart& chart, const std::vector<ChartTick>& y_ticks);

}  // namespace weft
