// The axes of a chart: which values are drawn on it, from values to places, and the ticks between.
#pragma once

#include <string>
#include <vector>

#include "tools/output/chart.hpp"

namespace weft {

struct ChartTick {
    double value;
    std::string label;
};

class AxisMap {
  public:
    // Covers `least` to `most` (both finite; above 0 on a logarithmic scale): linear ones from 0 to a tick, logarithmic
    // ones from power to power of their base.
    AxisMap(const ChartAxis& axis, double least, double most);

    double place(double value) const;  // 0 at the lower end, 1 at the upper
    const std::vector<ChartTick>& ticks() const { return ticks_; }

  private:
    void linear_ticks(const ChartAxis& axis, double most);
    void logarithmic_ticks(const ChartAxis& axis, double base, double least, double most);

    AxisScale scale_;
    double low_ = 0, high_ = 1;
    std::vector<ChartTick> ticks_;
};

// The least of 1, 2, 5 times a power of ten that cuts `length` into at most `pieces`.
double tick_step(double length, int pieces);

// A value in the unit of an axis: "45.9 GB", "64 KiB", "12.5 %", "512".
std::string axis_value(const ChartAxis& axis, double value);

// Whether a value has a place on an axis: NaN has none, nor has 0 on a logarithmic one.
bool drawable(const ChartAxis& axis, double value);

bool is_stacked(const Chart& chart);

// Checked, and with shares in place of values where the chart shows shares; of a sum of 0 there are none.
Chart as_shown(Chart chart);

// Of drawable values and, where they are stacked, of sums. Bars of the least value have a height.
AxisMap value_axis(const Chart& chart);

}  // namespace weft
