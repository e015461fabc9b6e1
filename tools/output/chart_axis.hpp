// An axis of a chart and the frame around it: which values are drawn on it, from values to places, and the ticks
// between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/output/chart.hpp"

namespace weft {

struct ChartTick {
    double value;
    std::string label;
};

// Where a logarithmic axis starts: at the power of its base below the least value, or a little lower if need be, so
// that the bar of the least value has a height.
enum class AxisEnd : std::uint8_t { tight, room_below };

class AxisMap {
  public:
    // Covers `least` to `most` (both finite; above 0 on a logarithmic scale): linear ones from 0 to a tick, logarithmic
    // ones to a power of their base.
    AxisMap(const ChartAxis& axis, double least, double most, AxisEnd end);

    double place(double value) const;  // 0 at the lower end, 1 at the upper
    const std::vector<ChartTick>& ticks() const { return ticks_; }

  private:
    void linear_ticks(const ChartAxis& axis, double most);
    void logarithmic_ticks(const ChartAxis& axis, double base, double least, double most, AxisEnd end);

    AxisScale scale_;
    double low_ = 0, high_ = 1;
    std::vector<ChartTick> ticks_;
};

// The least of 1, 2, 5 times a power of ten that cuts `length` into at most `pieces`.
double tick_step(double length, int pieces);

// A value in the unit of an axis: "45.9 GB", "64 KiB", "12.5 %", "512".
std::string axis_value(const ChartAxis& axis, double value);

bool stacked(ChartKind kind);

// Whether a value has a place on an axis: NaN has none, nor has 0 on a logarithmic one.
bool drawable(const ChartAxis& axis, double value);

// Checked, and with shares in place of values where the chart shows shares; of a sum of 0 there are none.
Chart as_shown(Chart chart);

struct ValueRange {
    double least, most;
};
ValueRange value_range(const Chart& chart);  // of drawable values and, where they are stacked, of sums

// Where the parts of a chart's picture stand, in pixels, and how its series look; used by chart_svg alone.

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
