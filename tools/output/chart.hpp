// A chart as plain values: what is shown, not how it is drawn; and the pictures that are drawn of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

enum class ChartKind : std::uint8_t {
    grouped_bars,  // a bar per series and category, side by side
    percent_bars,  // a bar per category, the series on top of each other as shares of its sum
    lines,         // a line per series over `positions`
};

enum class AxisScale : std::uint8_t { linear, log2, log10 };

struct ChartAxis {
    std::string title{};  // "Volume per GPU and step"
    // Written behind tick values with a prefix: "B", "B/s", "s" (2 GB, 5 ms); "%" and "" without. Bytes on a log2
    // scale have binary prefixes.
    std::string unit{};
    AxisScale scale = AxisScale::linear;  // linear ones start at 0
    double floor = 0;                     // of a logarithmic y axis: lesser values are not drawn
};

struct ChartCategory {
    std::string label{};
    std::string group{};  // equal neighbours stand together below one heading; empty: none
    bool operator==(const ChartCategory&) const = default;
};

struct ChartSeries {
    enum class Look : std::uint8_t { solid, reference };  // reference: hollow bars, dashed lines

    std::string name{};
    std::vector<double> values{};  // in the unit of the y axis, >= 0, one per category or position; NaN: there is none
    Look look = Look::solid;
};

struct Chart {
    std::string title{}, subtitle{};
    ChartKind kind{};
    ChartAxis x{}, y{};                       // the unit of y is not used by percent_bars
    std::vector<ChartCategory> categories{};  // of bars
    std::vector<double> positions{};          // of lines, in the unit of x, ascending
    std::vector<ChartSeries> series{};        // at least one
};

// A self-contained SVG on a light ground, in colours that the colour-blind can tell apart; bars one below the other.
// Values that are not there are marked with a cross (bars) or leave a gap (lines), as zeros do on a logarithmic axis.
std::string chart_svg(const Chart& chart);

// The axes of a chart: which values are drawn on it, from values to places, and the ticks between.

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

// A value in the unit of an axis: "45.9 GB", "64 KiB", "12.5 %", "512".
std::string axis_value(const ChartAxis& axis, double value);

// Whether a value has a place on an axis: NaN has none, nor has 0 on a logarithmic one.
bool drawable(const ChartAxis& axis, double value);

// Checked, and with shares in place of values where the chart shows shares; of a sum of 0 there are none.
Chart as_shown(Chart chart);

// Of drawable values. Bars of the least one have a height.
AxisMap value_axis(const Chart& chart);

}  // namespace weft
