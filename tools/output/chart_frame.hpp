// Where the parts of a chart's picture stand, in pixels, and how its series look; used by chart_svg alone.
#pragma once

#include <cstddef>
#include <string>
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

struct SeriesLook {
    std::size_t index;  // of the series
    ChartSeries::Look look;
};

std::string bar_fill(SeriesLook look);                               // attributes of a rectangle
std::string line_mark(SeriesLook look, std::string_view path_data);  // an element, with its end of line
// An element around (x, y); `inside` is its content.
std::string point_mark(SeriesLook look, double x, double y, std::string_view inside);

}  // namespace weft
