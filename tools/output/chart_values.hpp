// The values of a chart as they are drawn.
#pragma once

#include "tools/output/chart.hpp"

namespace weft {

bool stacked(ChartKind kind);

// Whether a value has a place on an axis: NaN has none, nor has 0 on a logarithmic one.
bool drawable(const ChartAxis& axis, double value);

// Checked, and with shares in place of values where the chart shows shares; of a sum of 0 there are none.
Chart as_shown(Chart chart);

struct ValueRange {
    double least, most;
};
ValueRange value_range(const Chart& chart);  // of drawable values and, where they are stacked, of sums

}  // namespace weft
