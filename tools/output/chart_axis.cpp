#include "tools/output/chart_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <string_view>

#include "sim/base/check.hpp"
#include "tools/output/svg_text.hpp"

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

double tick_step(double length, int pieces) {
    const double power = std::pow(10.0, std::floor(std::log10(length / pieces)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power * pieces >= length * (1.0 - 1e-12)) return factor * power;
    }
    return 10.0 * power;
}

AxisMap::AxisMap(const ChartAxis& axis, double least, double most, AxisEnd end) : scale_(axis.scale) {
    WEFT_CHECK(std::isfinite(least) && std::isfinite(most) && least <= most, "an axis covers a range");
    if (scale_ == AxisScale::linear) {
        WEFT_CHECK(least >= 0, "linear axes start at 0");
        linear_ticks(axis, most);
    } else {
        WEFT_CHECK(least > 0, "a logarithmic axis shows what is above 0");
        logarithmic_ticks(axis, scale_ == AxisScale::log2 ? 2 : 10, least, most, end);
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

void AxisMap::logarithmic_ticks(const ChartAxis& axis, double base, double least, double most, AxisEnd end) {
    const double first = std::floor(std::log(least) / std::log(base) + 1e-9);
    const double last = std::max(first + 1, std::ceil(std::log(most) / std::log(base) - 1e-9));
    const double every = std::ceil((last - first) / most_logarithmic_ticks);
    low_ = std::pow(base, first);
    if (end == AxisEnd::room_below) low_ = std::min(low_, least / std::sqrt(base));
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

namespace {

// In pixels.
constexpr double least_width = 960, plot_height = 340, row_height = 20, swatch = 26, legend_gap = 22;
constexpr double least_slot = 30, least_bar = 7, tick_gap = 10, label_gap = 8;
constexpr double upright_width = 1240;  // the widest page that grows to keep labels upright; beyond it they tilt
constexpr double tilt = 38, degree = std::numbers::pi / 180;
constexpr double group_gap = 0.7;  // of a slot, between groups

double longest(const std::vector<ChartCategory>& categories) {
    double width = 0;
    for (const ChartCategory& category : categories) {
        width = std::max(width, text_width(category.label, ChartFrame::font));
    }
    return width;
}

bool starts_group(const std::vector<ChartCategory>& categories, std::size_t i) {
    return i > 0 && categories[i].group != categories[i - 1].group;
}

// Places of the categories in units of slots, from the left end of the plot, and the length of the plot.
std::vector<double> slot_centres(const std::vector<ChartCategory>& categories, double& length) {
    std::vector<double> centres;
    length = 0;
    for (std::size_t i = 0; i < categories.size(); ++i) {
        if (starts_group(categories, i)) length += group_gap;
        centres.push_back(length + 0.5);
        length += 1;
    }
    return centres;
}

// The least width of a slot at which bars can be told apart and headings of groups stay apart.
double slot_width(const Chart& chart) {
    const std::size_t bars = chart.kind == ChartKind::grouped_bars ? chart.series.size() : 1;
    double width = std::max(least_slot, least_bar * static_cast<double>(bars) / 0.8);
    for (std::size_t i = 0; i < chart.categories.size();) {
        const std::size_t first = i++;
        while (i < chart.categories.size() && !starts_group(chart.categories, i)) ++i;
        const double heading = text_width(chart.categories[first].group, ChartFrame::font) + tick_gap;
        width = std::max(width, heading / (static_cast<double>(i - first) + group_gap));
    }
    return width;
}

// Legend entries in as many rows as they need; returns the height of all.
double place_legend(const Chart& chart, double top, ChartFrame& frame) {
    double x = ChartFrame::margin, y = top;
    for (const ChartSeries& series : chart.series) {
        const double width = swatch + text_width(series.name, ChartFrame::font);
        if (x > ChartFrame::margin && x + width > frame.page_width - ChartFrame::margin) {
            x = ChartFrame::margin;
            y += row_height;
        }
        frame.legend.push_back({x, y});
        x += width + legend_gap;
    }
    return y + row_height - top;
}

// Okabe and Ito's palette for all kinds of colour vision (2008), less its yellow and black, which are poor on white
// beside text, and with a dark and a grey tone.
constexpr std::array<std::string_view, 8> palette{"#0072b2", "#e69f00", "#009e73", "#d55e00",
                                                  "#cc79a7", "#56b4e9", "#332288", "#8a8a8a"};

std::string_view colour(SeriesLook look) { return palette[look.index % palette.size()]; }
bool hollow(SeriesLook look) { return look.look == ChartSeries::Look::reference; }

}  // namespace

ChartFrame chart_frame(const Chart& chart, const std::vector<ChartTick>& y_ticks) {
    ChartFrame frame{};
    double widest_tick = 0;
    for (const ChartTick& tick : y_ticks) widest_tick = std::max(widest_tick, text_width(tick.label, ChartFrame::font));
    frame.left = ChartFrame::margin + (chart.y.title.empty() ? 0 : row_height) + widest_tick + tick_gap;

    double slots = 0;
    const std::vector<double> centres = slot_centres(chart.categories, slots);
    const double label = longest(chart.categories);
    double slot = slot_width(chart);
    if (const double upright = std::max(slot, label + label_gap); frame.left + slots * upright <= upright_width) {
        slot = upright;
    } else {
        frame.label_angle = tilt;
        frame.left = std::max(frame.left, label * std::cos(tilt * degree) - slot / 2 + label_gap);
    }
    double titles = std::max(text_width(chart.title, 18), text_width(chart.subtitle, ChartFrame::font));
    for (const ChartSeries& series : chart.series) {
        titles = std::max(titles, swatch + text_width(series.name, ChartFrame::font));
    }
    // The last tick of lines stands on the right edge.
    const double right = ChartFrame::margin + (chart.kind == ChartKind::lines ? 14 : 0);
    frame.page_width =
        std::ceil(std::max({least_width, frame.left + slots * slot + right, titles + 2 * ChartFrame::margin}));
    frame.width = frame.page_width - right - frame.left;
    for (const double centre : centres) {
        frame.slots.push_back({frame.left + centre * frame.width / slots, frame.width / slots});
    }

    frame.top = 40 + (chart.subtitle.empty() ? 0 : row_height) + 20;
    frame.top += place_legend(chart, frame.top, frame) + 4;
    frame.height = std::max(plot_height, text_width(chart.y.title, ChartFrame::font));

    frame.label_height = row_height + label * std::sin(frame.label_angle * degree);
    frame.has_groups =
        std::ranges::any_of(chart.categories, [](const ChartCategory& category) { return !category.group.empty(); });
    double below = frame.bottom() + frame.label_height + (frame.has_groups ? row_height + 6 : 0);
    if (!chart.x.title.empty()) frame.x_title_y = below += row_height;
    frame.page_height = std::ceil(below + ChartFrame::margin - 6);
    return frame;
}

std::string bar_fill(SeriesLook look) {
    if (!hollow(look)) return fmt::format(R"(fill="{}")", colour(look));
    return fmt::format(R"(fill="#fff" stroke="{}" stroke-width="1.5" stroke-dasharray="3 2")", colour(look));
}

std::string line_mark(SeriesLook look, std::string_view path_data) {
    return fmt::format("<path class=\"line s{}\" d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n",
                       look.index, path_data, colour(look), hollow(look) ? " stroke-dasharray=\"6 4\"" : "");
}

std::string point_mark(SeriesLook look, double x, double y, std::string_view inside) {
    // A disc, square, triangle or diamond, so that lines differ in more than colour.
    constexpr std::array<std::string_view, 4> shapes{"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "m-3.5 -3.5h7v7h-7z",
                                                     "m0 -5l4.5 8h-9z", "m0 -5l5 5l-5 5l-5 -5z"};
    return fmt::format("<path class=\"mark s{}\" d=\"M{:.2f} {:.2f}{}\" fill=\"{}\" stroke=\"{}\">{}</path>\n",
                       look.index, x, y, shapes[look.index % shapes.size()], hollow(look) ? "#fff" : colour(look),
                       colour(look), inside);
}

}  // namespace weft
