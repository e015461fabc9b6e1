#include "tools/output/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "sim/base/check.hpp"
#include "sim/base/lists.hpp"

namespace weft {
namespace {

constexpr int most_linear_ticks = 6, most_logarithmic_ticks = 10;

struct Prefix {
    double factor;
    std::string_view name;
};
constexpr auto decimal = std::to_array<Prefix>({{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}});
constexpr auto binary =
    std::to_array<Prefix>({{0x1p50, "Pi"}, {0x1p40, "Ti"}, {0x1p30, "Gi"}, {0x1p20, "Mi"}, {0x1p10, "Ki"}, {1, ""}});
constexpr auto of_time = std::to_array<Prefix>({{1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}});

// The largest prefix of which there is at least one; what is 1 but for rounding counts as one.
Prefix prefix_for(const ChartAxis& axis, double value) {
    if (axis.unit.empty() || axis.unit == "%") return {1, ""};
    const std::span<const Prefix> prefixes = axis.unit == "s"                ? std::span<const Prefix>(of_time)
                                             : axis.scale == AxisScale::log2 ? std::span<const Prefix>(binary)
                                                                             : std::span<const Prefix>(decimal);
    for (const Prefix& prefix : prefixes) {
        if (value >= prefix.factor * (1 - 1e-12)) return prefix;
    }
    return prefixes.back();
}

std::string with_unit(const ChartAxis& axis, double value, Prefix prefix, int digits) {
    if (value == 0) return "0";
    const std::string text = fmt::format("{:.{}g}", value / prefix.factor, digits);
    return axis.unit.empty() ? text : fmt::format("{} {}{}", text, prefix.name, axis.unit);
}

// The least of 1, 2, 5 times a power of ten that cuts `length` into at most `pieces`.
double tick_step(double length, int pieces) {
    const double power = std::pow(10.0, std::floor(std::log10(length / pieces)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power * pieces >= length * (1.0 - 1e-12)) return factor * power;
    }
    return 10.0 * power;
}

}  // namespace

AxisMap::AxisMap(const ChartAxis& axis, double least, double most) : scale_(axis.scale) {
    WEFT_CHECK(std::isfinite(least) && std::isfinite(most) && least <= most, "an axis covers a range");
    if (scale_ == AxisScale::linear) {
        WEFT_CHECK(least >= 0, "linear axes start at 0");
        linear_ticks(axis, most);
    } else {
        WEFT_CHECK(least > 0, "a logarithmic axis shows what is above 0");
        logarithmic_ticks(axis, scale_ == AxisScale::log2 ? 2 : 10, least, most);
    }
}

void AxisMap::linear_ticks(const ChartAxis& axis, double most) {
    if (most == 0) most = 1;  // only zeros to show
    const double step = tick_step(most, most_linear_ticks);
    const double steps = std::ceil(most / step - 1e-9);
    high_ = steps * step;
    const Prefix prefix = prefix_for(axis, high_);
    for (double i = 0; i <= steps; ++i) ticks_.push_back({i * step, with_unit(axis, i * step, prefix, 6)});
}

void AxisMap::logarithmic_ticks(const ChartAxis& axis, double base, double least, double most) {
    const double first = std::floor(std::log(least) / std::log(base) + 1e-9);
    const double last = std::max(first + 1, std::ceil(std::log(most) / std::log(base) - 1e-9));
    const double every = std::ceil((last - first) / most_logarithmic_ticks);
    low_ = std::pow(base, first);
    high_ = std::pow(base, last);
    for (double power = first; power <= last; power += every) {
        const double value = std::pow(base, power);
        ticks_.push_back({value, with_unit(axis, value, prefix_for(axis, value), 7)});
    }
}

double AxisMap::place(double value) const {
    if (scale_ == AxisScale::linear) return (value - low_) / (high_ - low_);
    return std::log(value / low_) / std::log(high_ / low_);
}

std::string axis_value(const ChartAxis& axis, double value) {
    return with_unit(axis, value, prefix_for(axis, value), axis.unit.empty() ? 6 : 3);
}

bool drawable(const ChartAxis& axis, double value) {
    return axis.scale == AxisScale::linear ? !std::isnan(value) : value > 0 && value >= axis.floor;
}

Chart as_shown(Chart chart) {
    const std::size_t points = chart.kind == ChartKind::lines ? chart.positions.size() : chart.categories.size();
    WEFT_CHECK(!chart.series.empty() && points > 0, "a chart shows something");
    WEFT_CHECK(chart.kind != ChartKind::percent_bars || chart.y.scale == AxisScale::linear,
               "parts of a sum stand on a linear axis");
    WEFT_CHECK(chart.kind != ChartKind::lines || std::ranges::is_sorted(chart.positions), "positions ascend");
    for (const ChartSeries& series : chart.series) {
        WEFT_CHECK(series.values.size() == points, "a series has one value per category or position");
        for (const double value : series.values) {
            WEFT_CHECK(!(value < 0) && !std::isinf(value), "a chart shows what is finite and at least 0");
        }
    }
    if (chart.kind != ChartKind::percent_bars) return chart;
    chart.y.unit = "%";
    for (std::size_t i = 0; i < points; ++i) {
        const auto sum = sum_of<double>(
            chart.series, [i](const ChartSeries& each) { return std::isnan(each.values[i]) ? 0.0 : each.values[i]; });
        for (ChartSeries& series : chart.series) series.values[i] *= 100 / sum;  // 0 / 0: NaN
    }
    return chart;
}

AxisMap value_axis(const Chart& chart) {
    if (chart.kind == ChartKind::percent_bars) return {chart.y, 0, 100};
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const ChartSeries& series : chart.series) {
        for (const double value : series.values) {
            if (!drawable(chart.y, value)) continue;
            least = std::min(least, value);
            most = std::max(most, value);
        }
    }
    if (!std::isfinite(least)) return {chart.y, 1, 1};  // nothing to draw: any axis will do
    return {chart.y, chart.kind == ChartKind::lines ? least : least / 2, most};
}

}  // namespace weft
