#include "tools/output/chart_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/check.hpp"

namespace weft {
namespace {

double sum_at(const Chart& chart, std::size_t point) {
    double sum = 0;
    for (const ChartSeries& series : chart.series) {
        if (!std::isnan(series.values[point])) sum += series.values[point];
    }
    return sum;
}

void to_shares(Chart& chart) {
    chart.y.unit = "%";
    for (std::size_t i = 0; i < chart.categories.size(); ++i) {
        const double sum = sum_at(chart, i);
        for (ChartSeries& series : chart.series) series.values[i] *= 100 / sum;  // 0 / 0: NaN
    }
}

}  // namespace

bool stacked(ChartKind kind) { return kind == ChartKind::stacked_bars || kind == ChartKind::percent_bars; }

bool drawable(const ChartAxis& axis, double value) {
    return axis.scale == AxisScale::linear ? !std::isnan(value) : value > 0 && value >= axis.floor;
}

Chart as_shown(Chart chart) {
    const std::size_t points = chart.kind == ChartKind::lines ? chart.positions.size() : chart.categories.size();
    WEFT_CHECK(!chart.series.empty() && points > 0, "a chart shows something");
    WEFT_CHECK(!stacked(chart.kind) || chart.y.scale == AxisScale::linear, "parts of a sum stand on a linear axis");
    WEFT_CHECK(chart.kind != ChartKind::lines || std::ranges::is_sorted(chart.positions), "positions ascend");
    for (const ChartSeries& series : chart.series) {
        WEFT_CHECK(series.values.size() == points, "a series has one value per category or position");
        for (const double value : series.values) {
            WEFT_CHECK(!(value < 0) && !std::isinf(value), "a chart shows what is finite and at least 0");
        }
    }
    if (chart.kind == ChartKind::percent_bars) to_shares(chart);
    return chart;
}

ValueRange value_range(const Chart& chart) {
    if (chart.kind == ChartKind::percent_bars) return {0, 100};
    ValueRange range{std::numeric_limits<double>::infinity(), 0};
    for (std::size_t i = 0; i < chart.series.front().values.size(); ++i) {
        for (const ChartSeries& series : chart.series) {
            if (!drawable(chart.y, series.values[i])) continue;
            range.least = std::min(range.least, series.values[i]);
            range.most = std::max(range.most, series.values[i]);
        }
        if (chart.kind == ChartKind::stacked_bars) range.most = std::max(range.most, sum_at(chart, i));
    }
    return std::isfinite(range.least) ? range : ValueRange{1, 1};  // nothing to draw: any axis will do
}

}  // namespace weft
