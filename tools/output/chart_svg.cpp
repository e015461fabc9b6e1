#include "tools/output/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <string_view>
#include <utility>

#include "tools/output/svg_text.hpp"

namespace weft {
namespace {

// In pixels, but where it says otherwise.
constexpr double font = 12, margin = 24, row = 20, least_width = 960, plot_height = 340, swatch = 26, legend_gap = 22;
constexpr double least_slot = 30, least_bar = 7, tick_gap = 10, label_gap = 8;
constexpr double tilt = 38, degree = std::numbers::pi / 180;
constexpr double group_gap = 0.7;  // of a slot, between groups

// Okabe and Ito's palette for all kinds of colour vision (2008), less its yellow and black, which are poor on white
// beside text, and with a dark and a grey tone.
constexpr std::array<std::string_view, 8> palette{"#0072b2", "#e69f00", "#009e73", "#d55e00",
                                                  "#cc79a7", "#56b4e9", "#332288", "#8a8a8a"};

// The width of the widest of some texts.
double widest(const auto& rows, auto text) {
    double width = 0;
    for (const auto& each : rows) width = std::max(width, text_width(std::invoke(text, each), font));
    return width;
}

class Picture {
  public:
    explicit Picture(const Chart& chart) : chart_(as_shown(chart)), y_(value_axis(chart_)) {
        place_slots();
        place_legend();
        height_ = std::max(plot_height, text_width(chart_.y.title, font));
        label_height_ = row + widest(chart_.categories, &ChartCategory::label) * std::sin(angle_ * degree);
        page_height_ = bottom() + label_height_ + (widest(chart_.categories, &ChartCategory::group) > 0 ? row + 6 : 0);
        if (!chart_.x.title.empty()) x_title_y_ = page_height_ += row;
        page_height_ = std::ceil(page_height_ + margin - 6);
    }

    std::string draw() {
        head();
        legend();
        y_axis();
        if (chart_.kind == ChartKind::lines) {
            lines();
        } else {
            bars();
            categories();
        }
        svg_.add(R"(<path class="axis" d="M{:.1f} {:.1f}h{:.1f}"/>)", left_, bottom(), width_);
        svg_.put("</svg>\n");
        return svg_.take();
    }

  private:
    double bottom() const { return top_ + height_; }
    double y(double value) const { return bottom() - height_ * y_.place(value); }

    bool starts_group(std::size_t category) const {
        return category == 0 || chart_.categories[category].group != chart_.categories[category - 1].group;
    }

    // Where categories stand: wide enough for bars to be told apart and for headings of groups to stay apart. Labels
    // that are wider than their slots are tilted.
    void place_slots() {
        const std::vector<ChartCategory>& all = chart_.categories;
        const std::size_t bars = chart_.kind == ChartKind::grouped_bars ? chart_.series.size() : 1;
        double slot = std::max(least_slot, least_bar * static_cast<double>(bars) / 0.8), slots = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (i > 0 && starts_group(i)) slots += group_gap;
            centres_.push_back(slots + 0.5);
            slots += 1;
            if (!starts_group(i)) continue;
            std::size_t end = i + 1;
            while (end < all.size() && !starts_group(end)) ++end;
            slot = std::max(slot,
                            (text_width(all[i].group, font) + tick_gap) / (static_cast<double>(end - i) + group_gap));
        }
        left_ = margin + (chart_.y.title.empty() ? 0 : row) + widest(y_.ticks(), &ChartTick::label) + tick_gap;
        const double right = margin + (chart_.kind == ChartKind::lines ? 14 : 0);  // a tick stands on the edge
        const double titles = std::max({text_width(chart_.title, 18), text_width(chart_.subtitle, font),
                                        swatch + widest(chart_.series, &ChartSeries::name)});
        page_width_ = std::ceil(std::max({least_width, left_ + slots * slot + right, titles + 2 * margin}));
        width_ = page_width_ - right - left_;
        if (all.empty()) return;
        const double label = widest(all, &ChartCategory::label);
        if (label + label_gap > width_ / slots) {
            angle_ = tilt;
            const double more = std::max(0.0, label * std::cos(tilt * degree) - slot / 2 + label_gap - left_);
            left_ += more;
            page_width_ = std::ceil(page_width_ + more);
        }
        slot_ = width_ / slots;
        for (double& centre : centres_) centre = left_ + centre * slot_;
    }

    // In as many rows as its entries need.
    void place_legend() {
        top_ = 60 + (chart_.subtitle.empty() ? 0 : row);
        double x = margin;
        for (const ChartSeries& series : chart_.series) {
            const double width = swatch + text_width(series.name, font);
            if (x > margin && x + width > page_width_ - margin) {
                x = margin;
                top_ += row;
            }
            legend_.emplace_back(x, top_);
            x += width + legend_gap;
        }
        top_ += row + 4;
    }

    std::string_view colour(std::size_t series) const { return palette[series % palette.size()]; }
    bool is_hollow(std::size_t series) const { return chart_.series[series].look == ChartSeries::Look::reference; }

    std::string bar_fill(std::size_t series) const {
        if (!is_hollow(series)) return fmt::format(R"(fill="{}")", colour(series));
        return fmt::format(R"(fill="#fff" stroke="{}" stroke-width="1.5" stroke-dasharray="3 2")", colour(series));
    }
    void line(std::size_t series, std::string_view path) {
        svg_.add(R"(<path class="line s{}" d="{}" fill="none" stroke="{}" stroke-width="2"{}/>)", series, path,
                 colour(series), is_hollow(series) ? R"( stroke-dasharray="6 4")" : "");
    }
    // A disc, square, triangle or diamond, so that lines differ in more than colour.
    void mark(std::size_t series, double x, double y, std::string_view inside) {
        constexpr std::array<std::string_view, 4> shapes{"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "m-3.5 -3.5h7v7h-7z",
                                                         "m0 -5l4.5 8h-9z", "m0 -5l5 5l-5 5l-5 -5z"};
        svg_.add(R"(<path class="mark s{}" d="M{:.2f} {:.2f}{}" fill="{}" stroke="{}">{}</path>)", series, x, y,
                 shapes[series % shapes.size()], is_hollow(series) ? "#fff" : colour(series), colour(series), inside);
    }

    void head() {
        svg_.put(svg_head(page_width_, page_height_, chart_.title.empty() ? "Chart" : chart_.title));
        svg_.put(
            "<style>\ntext{font:12px system-ui,'Segoe UI','DejaVu Sans',sans-serif;fill:#30363d}"
            ".title{font-size:17px;font-weight:600}.note{fill:#59616a}.small{font-size:10px}"
            ".grid{stroke:#e3e7eb}.axis{stroke:#59616a}\n</style>\n");
        svg_.add(R"(<rect width="{}" height="{}" fill="#fff"/>)", page_width_, page_height_);
        svg_.add(R"(<text class="title" x="{}" y="34">{}</text>)", margin, xml_escaped(chart_.title));
        if (!chart_.subtitle.empty()) {
            svg_.add(R"(<text class="note" x="{}" y="54">{}</text>)", margin, xml_escaped(chart_.subtitle));
        }
    }

    void legend() {
        for (std::size_t s = 0; s < chart_.series.size(); ++s) {
            const auto [x, y] = legend_[s];
            if (chart_.kind == ChartKind::lines) {
                line(s, fmt::format("M{:.1f} {:.1f}h20", x, y - 4));
                mark(s, x + 10, y - 4, "");
            } else {
                svg_.add(R"(<rect x="{:.1f}" y="{:.1f}" width="12" height="12" rx="2" {}/>)", x + 4, y - 10,
                         bar_fill(s));
            }
            svg_.add(R"(<text class="legend" x="{:.1f}" y="{:.1f}">{}</text>)", x + 26, y,
                     xml_escaped(chart_.series[s].name));
        }
    }

    void y_axis() {
        for (const ChartTick& tick : y_.ticks()) {
            const double at = y(tick.value);
            svg_.add(R"(<path class="grid" d="M{:.1f} {:.1f}h{:.1f}"/>)", left_, at, width_);
            svg_.add(R"(<text class="note" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", left_ - 8, at + 4,
                     tick.label);
        }
        if (!chart_.y.title.empty()) {
            svg_.add(R"svg(<text transform="translate({:.1f} {:.1f}) rotate(-90)" text-anchor="middle">{}</text>)svg",
                     margin + 6, top_ + height_ / 2, xml_escaped(chart_.y.title));
        }
        if (!chart_.x.title.empty()) {
            svg_.add(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", left_ + width_ / 2, x_title_y_,
                     xml_escaped(chart_.x.title));
        }
    }

    // What a pointer over a mark is told.
    std::string hint(std::size_t series, std::size_t point) const {
        const std::string where = chart_.kind == ChartKind::lines ? axis_value(chart_.x, chart_.positions[point])
                                                                  : chart_.categories[point].label;
        return fmt::format("<title>{}, {}: {}</title>", xml_escaped(chart_.series[series].name), xml_escaped(where),
                           axis_value(chart_.y, chart_.series[series].values[point]));
    }

    void bar(std::size_t series, std::size_t point, double x, double width, double low, double high) {
        svg_.add(R"(<rect class="bar s{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" {}>{}</rect>)", series,
                 x, high, width, low - high, bar_fill(series), hint(series, point));
    }

    void cross(double x) {
        svg_.add(R"(<path class="axis" d="M{:.1f} {:.1f}l6 6m0 -6l-6 6"><title>none</title></path>)", x - 3,
                 bottom() - 10);
    }

    // The value above a bar, where there is room.
    void number(double x, double room, double value) {
        const std::string text = axis_value(chart_.y, value);
        if (text_width(text, 10) > room - 2) return;
        svg_.add(R"(<text class="small" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", x, y(value) - 4, text);
    }

    void bars() {
        for (std::size_t c = 0; c < chart_.categories.size(); ++c) {
            chart_.kind == ChartKind::percent_bars ? stacked_bars(c) : bars_of(c);
        }
    }

    void bars_of(std::size_t category) {
        const auto count = static_cast<double>(chart_.series.size());
        const double width = std::min(0.8 * slot_ / count, 72.0);
        double x = centres_[category] - width * count / 2;
        for (std::size_t s = 0; s < chart_.series.size(); ++s, x += width) {
            const double value = chart_.series[s].values[category];
            if (std::isnan(value)) {
                cross(x + width / 2);
            } else if (drawable(chart_.y, value)) {
                bar(s, category, x + 0.5, width - 1, bottom(), y(value));
                number(x + width / 2, width, value);
            }
        }
    }

    void stacked_bars(std::size_t category) {
        const double width = std::min(0.8 * slot_, 72.0), centre = centres_[category];
        double below = 0;
        bool any = false;
        for (std::size_t s = 0; s < chart_.series.size(); ++s) {
            const double value = chart_.series[s].values[category];
            if (std::isnan(value)) continue;
            any = true;
            if (value > 0) bar(s, category, centre - width / 2, width, y(below), y(below + value));
            below += value;
        }
        if (!any) cross(centre);
    }

    void categories() {
        const std::vector<ChartCategory>& all = chart_.categories;
        for (std::size_t c = 0; c < all.size(); ++c) {
            const std::string label = xml_escaped(all[c].label);
            if (angle_ == 0) {
                svg_.add(R"(<text class="category" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", centres_[c],
                         bottom() + 16, label);
            } else {
                svg_.add(
                    R"svg(<text class="category" transform="translate({:.1f} {:.1f}) rotate({})" text-anchor="end">{}</text>)svg",
                    centres_[c] + 4, bottom() + 14, -angle_, label);
            }
        }
        for (std::size_t c = 0; c < all.size();) {
            const std::size_t first = c++;
            while (c < all.size() && !starts_group(c)) ++c;
            if (all[first].group.empty()) continue;
            const double below = bottom() + label_height_ + 4, half = slot_ / 2 - 3;
            const double from = centres_[first] - half, to = centres_[c - 1] + half;
            svg_.add(R"(<path class="grid" d="M{:.1f} {:.1f}h{:.1f}" style="stroke:#8a929b"/>)", from, below,
                     to - from);
            svg_.add(R"(<text class="group" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", (from + to) / 2,
                     below + 16, xml_escaped(all[first].group));
        }
    }

    void lines() {
        const AxisMap x_axis(chart_.x, chart_.positions.front(), chart_.positions.back());
        const auto x = [&](double value) { return left_ + width_ * x_axis.place(value); };
        for (const ChartTick& tick : x_axis.ticks()) {
            svg_.add(R"(<path class="grid" d="M{:.1f} {:.1f}v{:.1f}"/>)", x(tick.value), top_, height_);
            svg_.add(R"(<text class="note" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", x(tick.value),
                     bottom() + 19, tick.label);
        }
        for (std::size_t s = 0; s < chart_.series.size(); ++s) {
            const std::vector<double>& values = chart_.series[s].values;
            std::string path;
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (!drawable(chart_.y, values[i])) continue;
                const bool joined = i > 0 && drawable(chart_.y, values[i - 1]);
                path += fmt::format("{}{:.2f} {:.2f}", joined ? 'L' : 'M', x(chart_.positions[i]), y(values[i]));
            }
            line(s, path);
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (drawable(chart_.y, values[i])) mark(s, x(chart_.positions[i]), y(values[i]), hint(s, i));
            }
        }
    }

    Chart chart_;
    AxisMap y_;
    double page_width_ = 0, page_height_ = 0, left_ = 0, top_ = 0, width_ = 0,
           height_ = 0;                               // the last four: the plot's
    double slot_ = 0, angle_ = 0, label_height_ = 0;  // of a category; of labels, in degrees; below the plot
    double x_title_y_ = 0;
    std::vector<double> centres_;                    // of categories
    std::vector<std::pair<double, double>> legend_;  // left ends and base lines of its entries
    MarkupText svg_;
};

}  // namespace

std::string chart_svg(const Chart& chart) { return Picture(chart).draw(); }

}  // namespace weft
